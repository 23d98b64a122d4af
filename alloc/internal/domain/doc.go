// Package domain chooses in which domains of a topology, as zones and their racks, the containers of one application are. It knows
// servers by their positions and rooms by numbers of containers.
package domain
