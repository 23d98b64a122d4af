// Package wire carries calls between the masters, agents and users of a cluster: JSON over HTTP, each call and each answer
// signed, so that being called teaches nobody a secret.
//
// # What it computes
//
// A token that a caller shows is known to whoever listens where the callee was: a port of a master that has died is free for
// all. Here nothing is shown. Caller and callee share a key, and sign what they say with it; who listens learns what was
// said, and can neither say anything else nor say it to anybody else, or again.
//
// [Secret] is what the masters of a cluster have. It makes a [Credential] for every [Party], an agent or a user, which knows
// no other's. [Secret.Gate] and [Credential.Gate] check who calls, [Handle] answers, [Client] calls. [HandleAgent] and
// [Remote] are an agent at the two ends of a line.
//
// # Notation
//
// A request has these headers; the MAC is HMAC-SHA256 with the key of the party that is not the master.
//
//	header                 what it holds
//	Apportion-From, -To    caller and callee: "master", "agent/north", "user/ann"
//	Apportion-Time         seconds since 1970
//	Apportion-Nonce        128 bits at random, in hexadecimal digits; no two calls have the same
//	Apportion-Signature    the MAC of what it is, the cluster, both parties, method, path, time, nonce and SHA-256 of the body
//
// An answer has Apportion-Signature alone: the MAC of the nonce that it answers, the status and the SHA-256 of its body.
//
// # Contract
//
// A request counts once, at the callee that is named, within [Window] of its time by the callee's clock; the clocks of a
// cluster must agree that well. One who has just been started has forgotten the nonces that it has seen: what it is asked for
// must be safe to be asked twice, as effects of package checkpoint are.
//
// An answer that is not signed is not believed, and says nothing of the request. An unsigned or refused request reaches no
// one: no epoch in it is noted.
//
// What is said can be read by who listens. Where that matters, put TLS around it, with [Client.HTTP] and a listener of
// crypto/tls; nothing here needs it to be safe against who lies. No call goes through a proxy that the environment names, and
// no key is printed by package fmt.
package wire
