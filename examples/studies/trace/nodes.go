// This file reads what clusters consist of: nodes, GPUs of each group by day, shapes of clusters.

package trace

import (
	"io"
	"iter"
	"time"
)

// Node is one machine.
// Quantities are those of the whole machine, whatever its operating system keeps.
type Node struct {
	ID                string
	GPUs, CPUs, MemGB Maybe[float64]
	// GPUModel is the type of its GPUs, Group the virtual cluster it belongs to. Empty: unknown.
	GPUModel, Group string
}

// Nodes reads a list of machines.
func Nodes(file string, in io.Reader) iter.Seq2[Node, error] {
	columns := []string{"node_id", "gpus", "cpus", "mem_gb", "gpu_model", "group"}
	return rows(file, in, columns, func(r *row) Node {
		return Node{
			ID:       r.id("node_id"),
			GPUs:     r.number("gpus"),
			CPUs:     r.number("cpus"),
			MemGB:    r.number("mem_gb"),
			GPUModel: r.text("gpu_model"),
			Group:    r.text("group"),
		}
	})
}

// GroupGPU is how many GPUs a virtual cluster had on a day.
type GroupGPU struct {
	// Date is midnight UTC of that day.
	Date  time.Time
	Group string
	GPUs  Maybe[int64]
}

// GroupGPUs reads the capacity of virtual clusters by day.
func GroupGPUs(file string, in io.Reader) iter.Seq2[GroupGPU, error] {
	return rows(file, in, []string{"date", "group", "gpus"}, func(r *row) GroupGPU {
		return GroupGPU{Date: r.date("date"), Group: r.id("group"), GPUs: r.count("gpus")}
	})
}

// Shape is a cluster of equal machines.
// Clusters of the literature are told by such shapes: so many switches, so many nodes at each.
type Shape struct {
	// Source says where the shape is used.
	Source                   string
	Switches, NodesPerSwitch Maybe[int64]
	// GPUs, CPUs and MemGB are those of one node.
	GPUs, CPUs, MemGB Maybe[float64]
}

// Shapes reads a list of cluster shapes.
func Shapes(file string, in io.Reader) iter.Seq2[Shape, error] {
	columns := []string{"source", "switches", "nodes_per_switch", "gpus_per_node", "cpus_per_node", "mem_gb_per_node"}
	return rows(file, in, columns, func(r *row) Shape {
		return Shape{
			Source:         r.id("source"),
			Switches:       r.count("switches"),
			NodesPerSwitch: r.count("nodes_per_switch"),
			GPUs:           r.number("gpus_per_node"),
			CPUs:           r.number("cpus_per_node"),
			MemGB:          r.number("mem_gb_per_node"),
		}
	})
}
