// Package growthoracle holds the dumb twins of package growth's Prospect and of placement's rebalancing: the
// definitions written down line by line over maps and whole histories, for tests only.
//
// # References
//
//	[Zheng] W. Zheng. Efficient Resource Management for Deep Learning Applications with Virtual
//	        Containers. Master's thesis.
package growthoracle
