// This file lists the formats by the names of their frameworks.

package format

// ByName returns the format of a framework with its default settings: "tensorflow", "pytorch", "mxnet", "caffe",
// "distributed", "safetensors", "huggingface", "deepspeed", "lightning", "keras" or "orbax". There is no other.
func ByName(name string) (Format, bool) {
	// The zero value of each type has the default settings, so that the list needs no more.
	for _, format := range []Format{TensorFlow{}, PyTorch{}, MXNet{}, Caffe{}, Distributed{}, SafeTensors{}, HuggingFace{},
		DeepSpeed{}, Lightning{}, Keras{}, Orbax{}} {
		if format.Name() == name {
			return format, true
		}
	}
	return nil, false
}
