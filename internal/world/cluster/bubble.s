// bubble has no body.
