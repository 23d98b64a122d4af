"""Writes the checkpoints beside this file, each with the real library: python write.py NAME FOLDER.

The models have a few numbers, and there are two checkpoints of each but the Trainer's. See README.md for the versions.
"""

import os
import sys


def torch_model():
    import torch

    torch.manual_seed(1)
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    return model, optimizer


def dcp(folder):
    import torch.distributed.checkpoint as checkpoint

    for step in (10, 20):
        model, _ = torch_model()
        state = {"model": model.state_dict(), "step": step}
        checkpoint.save(state, checkpoint_id=os.path.join(folder, f"step-{step}"))


def safetensors(folder):
    import torch
    from safetensors.torch import save_file
    from huggingface_hub import save_torch_state_dict

    for step in (10, 20):
        save_file({"w": torch.full((4,), float(step)), "b": torch.ones(2, dtype=torch.float16)}, os.path.join(folder, f"model-{step}.safetensors"))
    sharded = os.path.join(folder, "sharded")
    os.mkdir(sharded)
    save_torch_state_dict({f"layer{i}": torch.ones(64) * i for i in range(4)}, sharded, max_shard_size=300)


def huggingface(folder):
    import torch
    from transformers import Trainer, TrainingArguments, BertConfig, BertForSequenceClassification

    config = BertConfig(vocab_size=4, hidden_size=2, num_hidden_layers=1, num_attention_heads=1, intermediate_size=2, max_position_embeddings=4)
    data = [{"input_ids": torch.tensor([1, 2]), "attention_mask": torch.ones(2, dtype=torch.long), "labels": torch.tensor(0)} for _ in range(4)]
    arguments = TrainingArguments(output_dir=folder, max_steps=2, save_steps=2, per_device_train_batch_size=1, report_to=[], use_cpu=True)
    Trainer(model=BertForSequenceClassification(config), args=arguments, train_dataset=data).train()


def deepspeed(folder):
    import torch
    import deepspeed

    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="29533", DS_ACCELERATOR="cpu")
    deepspeed.init_distributed(dist_backend="gloo")
    model, _ = torch_model()
    config = {"train_batch_size": 1, "zero_optimization": {"stage": 1}, "bf16": {"enabled": True},
              "optimizer": {"type": "Adam", "params": {"torch_adam": True}}}
    engine, *_ = deepspeed.initialize(model=model, config=config, model_parameters=model.parameters())
    for _ in range(2):
        engine.backward(engine(torch.ones(1, 2, dtype=torch.bfloat16)).sum())
        engine.step()
        engine.save_checkpoint(folder)


def lightning(folder):
    import torch
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)

        def training_step(self, batch, index):
            return self.layer(batch).sum()

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())

    callback = lightning.pytorch.callbacks.ModelCheckpoint(dirpath=folder, every_n_train_steps=2, save_top_k=-1, save_last=True)
    trainer = lightning.Trainer(max_steps=4, accelerator="cpu", logger=False, callbacks=[callback], enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Module(), torch.utils.data.DataLoader(torch.ones(8, 2)))


def orbax(folder):
    import jax.numpy as numpy
    import orbax.checkpoint as ocp

    with ocp.CheckpointManager(os.path.abspath(folder)) as manager:
        for step in (10, 20):
            manager.save(step, args=ocp.args.StandardSave({"w": numpy.full((4,), step), "step": step}))
        manager.wait_until_finished()


def keras(folder):
    import keras
    import numpy

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    for step in (10, 20):
        model.set_weights([numpy.full((2, 1), float(step)), numpy.zeros(1)])
        model.save(os.path.join(folder, f"model-{step}.keras"))


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
