# What the controller may do, and nothing else: `nomad acl policy apply apportion policy.hcl`, and a token of that policy in
# NOMAD_TOKEN. It reads nodes, and reads, registers and stops jobs in its namespace. It can neither read variables, nor run
# commands in containers, nor change nodes.
namespace "default" {
  capabilities = ["list-jobs", "read-job", "submit-job"]
}

node {
  policy = "read"
}
