// This file holds the machines and what stands on them: Server and Placement.

package apportion

// Server is one machine of the cluster: what Dorm calls a slave, Kubernetes a node.
type Server struct {
	// ID names the server; not empty, unique in its cluster.
	ID string `json:"id"`
	// Capacity is what containers may use, in the units of the cluster's Kinds. Zero quantities
	// are legal: a server whose capacity is zero in every kind is drained or gone.
	Capacity Resources `json:"capacity"`
	// Labels say what sort of server it is, for instance {"gpu": "a100", "zone": "b"}; jobs may require
	// some. Keys and values are not interpreted.
	Labels map[string]string `json:"labels,omitempty"`
	// Cordoned says that nothing new may come to the server. What runs there may stay, and is moved away
	// where that costs nobody too much: a drain that does not hurry.
	Cordoned bool `json:"cordoned,omitempty"`
}

// Placement is a number of containers of one job on one server.
type Placement struct {
	// Server is the position of the server in the list that the input gave.
	Server int `json:"server"`
	// Count is positive.
	Count int64 `json:"count"`
}
