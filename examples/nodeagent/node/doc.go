// Package node runs training jobs on one CPU of this machine and holds them to FlowCon's limits, [Zheng]
// §5.1, by what the machine offers: control groups, Docker, or signals. It works on Linux.
//
// [Zheng]: W. Zheng. Efficient Resource Management for Deep Learning Applications with Virtual
// Containers. Master's thesis.
package node
