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
//	Apportion-Challenge    what the callee has asked for, see below; empty: the caller has not heard from it yet
//	Apportion-Nonce        128 bits at random, in hexadecimal digits; no two calls have the same
//	Apportion-Digest       SHA-256 of the body, in hexadecimal digits
//	Apportion-Signature    the MAC of what it is, the cluster, both parties, method, path, challenge, nonce and digest
//
// An answer has Apportion-Challenge, for the next request, and Apportion-Signature: the MAC of the nonce that it answers, the
// challenge, the status and the SHA-256 of its body.
//
// # Contract
//
// A request counts once, at the very gate that it is signed for. Every gate draws challenges at random: its first when it
// begins, the next ones each minute and each 4,096 requests. It lets in what is signed for the newest or the one before, each
// nonce once, and answers 421 to what is signed for any other, with the challenge that would do: the caller signs anew and
// repeats the request once. So nothing that was said before a restart counts after it, or at another master, or more than two
// minutes later; no time of day is read, and what is remembered is bounded. The first call of a client asks twice.
//
// The headers are judged first: the body of a stranger is not read. [Server] bounds what else strangers may take.
//
// An answer that is not signed is not believed, and says nothing of the request. An unsigned or refused request reaches no
// one: no epoch in it is noted.
//
// What is said can be read by who listens. Where that matters, put TLS around it: [ReadTLS], [HTTP] and a listener of
// crypto/tls; nothing here needs it to be safe against who lies. No call goes through a proxy that the environment names, and
// no key is printed by package fmt.
package wire
