"""Writes a trained model as the hub's ONNX community lays out Whisper: `export.py CHECKPOINT OUT_FOLDER`.

An encoder, and a merged decoder: one `If` on `use_cache_branch` whose branches are the decoder that begins
and the one that continues from caches. Weights are stored in half precision to save space, and widened at load."""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from features import FFT_SAMPLES, HOP_SAMPLES, MEL_BINS, SAMPLE_RATE
from model import DECODER_LAYERS, ENCODER_FRAMES, HEADS, MAX_TOKENS, WIDTH, Model
from sentences import CLOSED, LANGUAGES
from tokens import MERGES, PIECES, SPECIAL_TOKENS, VOCABULARY

OPSET = 14
MEL_FRAMES = 2 * ENCODER_FRAMES
CACHES = [
    f"{layer}.{side}.{part}"
    for layer in range(DECODER_LAYERS)
    for side in ("decoder", "encoder")
    for part in ("key", "value")
]
PAST = [f"past_key_values.{cache}" for cache in CACHES]
PRESENT = [f"present.{cache}" for cache in CACHES]
ATTENTIONS = [f"cross_attentions.{layer}" for layer in range(DECODER_LAYERS)]
OUTPUTS = ["logits", *PRESENT, *ATTENTIONS]


class EncoderStates(torch.nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, mel):
        return self.encoder(mel)[0]


class DecoderStep(torch.nn.Module):
    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder

    def step(self, tokens, states, past):
        decoder = self.decoder
        done = past[0].shape[2] if past else 0
        positions = torch.arange(tokens.shape[1]) + done
        x = decoder.embedding(tokens) + decoder.positions[positions]
        mask = (torch.arange(tokens.shape[1] + done)[None, :] > positions[:, None]).float() * -1e9
        present, attentions = [], []
        for layer, block in enumerate(decoder.blocks):
            normed = block.self_norm(x)
            keys, values = block.self_attention.keys_and_values(normed)
            if past:
                past_keys, past_values, cross_keys, cross_values = past[4 * layer : 4 * layer + 4]
                keys, values = torch.cat([past_keys, keys], 2), torch.cat([past_values, values], 2)
            else:
                cross_keys, cross_values = block.cross_attention.keys_and_values(states)
            x = x + block.self_attention(normed, keys, values, mask)[0]
            attended, attention, _ = block.cross_attention(block.cross_norm(x), cross_keys, cross_values)
            x = x + attended
            x = x + block.feed_forward(x)
            # An output that is an input as it stands cannot be exported.
            present += [keys, values, cross_keys * 1.0, cross_values * 1.0]
            attentions.append(attention)
        return (decoder.logits(x), *present, *attentions)


class FirstStep(DecoderStep):
    def forward(self, tokens, states):
        return self.step(tokens, states, None)


class NextStep(DecoderStep):
    def forward(self, tokens, *past):
        return self.step(tokens, None, past)


def axes_that_vary():
    axes = {"input_ids": {0: "batch", 1: "tokens"}, "encoder_hidden_states": {0: "batch", 1: "frames"}}
    axes["logits"] = {0: "batch", 1: "tokens"}
    axes |= {name: {0: "batch", 2: "length"} for name in PAST + PRESENT}
    axes |= {name: {0: "batch", 2: "tokens", 3: "frames"} for name in ATTENTIONS}
    return axes


def trace(module, inputs, input_names, output_names, axes):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/traced.onnx"
        torch.onnx.export(
            module,
            inputs,
            path,
            opset_version=OPSET,
            input_names=input_names,
            output_names=output_names,
            dynamic_axes=axes,
        )
        return onnx.load(path)


def rename(graph, new_name):
    for node in graph.node:
        node.input[:] = [new_name(name) for name in node.input]
        node.output[:] = [new_name(name) for name in node.output]


def weights_by_content(graph):
    """Names that the tracer numbered differ between the branches: the same weights get the same name."""
    names = {}
    for weight in graph.initializer:
        if weight.name.startswith("onnx::"):
            content = weight.raw_data + str(list(weight.dims)).encode()
            names[weight.name] = "weight_" + hashlib.sha1(content).hexdigest()[:12]
    rename(graph, lambda name: names.get(name, name))
    for weight in graph.initializer:
        weight.name = names.get(weight.name, weight.name)
    return {weight.name: weight for weight in graph.initializer}


def name_attentions(graph):
    """Softmax nodes are called as in exports of Whisper; outputs of the graph are copies of theirs."""
    nodes = [node for node in graph.node if node.op_type == "Softmax"]
    kinds = [(layer, kind) for layer in range(DECODER_LAYERS) for kind in ("self_attn", "encoder_attn")]
    assert len(nodes) == len(kinds)
    copies = []
    for node, (layer, kind) in zip(nodes, kinds):
        node.name = f"/model/decoder/layers.{layer}/{kind}/Softmax"
        old, new = node.output[0], f"{node.name}_output_0"
        rename(graph, lambda name: new if name == old else name)
        if old in ATTENTIONS:
            copies.append(helper.make_node("Identity", [new], [old], name=f"copy_{old}"))
    graph.node.extend(copies)


def branch(traced, prefix, outer_names):
    """Values of a branch must not be called as those of the other or of the graph around it."""
    graph = traced.graph
    name_attentions(graph)
    weights = weights_by_content(graph)
    outer = outer_names | set(weights)

    def inner(name):
        return name if not name or name in outer or name.startswith("/model/") else prefix + name

    rename(graph, inner)
    for node in graph.node:
        node.name = inner(node.name)
    outputs = [helper.make_tensor_value_info(prefix + name, TensorProto.FLOAT, None) for name in OUTPUTS]
    return helper.make_graph(graph.node, prefix + "branch", [], outputs), weights


def packed(weights):
    """Large weights in half precision, and the nodes that widen them."""
    nodes, initializers = [], []
    for weight in weights:
        if weight.data_type != TensorProto.FLOAT or np.prod(weight.dims) <= 1000:
            initializers.append(weight)
            continue
        half = numpy_helper.to_array(weight).astype(np.float16)
        initializers.append(numpy_helper.from_array(half, f"{weight.name}_fp16"))
        nodes.append(helper.make_node("Cast", [f"{weight.name}_fp16"], [weight.name], to=TensorProto.FLOAT))
    return nodes, initializers


def export_encoder(model, path):
    axes = {"input_features": {0: "batch"}, "last_hidden_state": {0: "batch"}}
    mel = torch.randn(2, MEL_BINS, MEL_FRAMES)
    traced = trace(EncoderStates(model.encoder), mel, ["input_features"], ["last_hidden_state"], axes)
    casts, weights = packed(traced.graph.initializer)
    nodes = [*casts, *traced.graph.node]
    del traced.graph.initializer[:], traced.graph.node[:]
    traced.graph.initializer.extend(weights)
    traced.graph.node.extend(nodes)
    save(traced, path)


def export_decoder(model, path):
    axes = axes_that_vary()
    tokens = torch.randint(0, 9, (2, 5))
    states = torch.randn(2, ENCODER_FRAMES, WIDTH)
    begin, go_on = FirstStep(model.decoder), NextStep(model.decoder)
    past = begin(tokens, states)[1 : 1 + len(CACHES)]
    first = trace(begin, (tokens, states), ["input_ids", "encoder_hidden_states"], OUTPUTS, axes)
    following = trace(go_on, (tokens[:, :1], *past), ["input_ids", *PAST], OUTPUTS, axes)

    outer = {"input_ids", "encoder_hidden_states", *PAST}
    else_branch, weights = branch(first, "begin.", outer)
    then_branch, more_weights = branch(following, "go_on.", outer)
    casts, initializers = packed({**weights, **more_weights}.values())
    choice = helper.make_node(
        "If",
        ["use_cache_branch"],
        OUTPUTS,
        then_branch=then_branch,
        else_branch=else_branch,
        name="optimum::if",
    )
    graph = helper.make_graph([*casts, choice], "merged", decoder_inputs(), decoder_outputs(), initializers)
    merged = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    merged.ir_version = 7
    save(merged, path)


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def cache_value(name, length):
    return value(name, ["batch_size", HEADS, length, WIDTH // HEADS])


def decoder_inputs():
    lengths = {"decoder": "past_decoder_length", "encoder": "past_encoder_length"}
    return [
        value("input_ids", ["batch_size", "decoder_length"], TensorProto.INT64),
        value("encoder_hidden_states", ["batch_size", "encoder_length", WIDTH]),
        *(cache_value(name, lengths[name.split(".")[2]]) for name in PAST),
        value("use_cache_branch", [1], TensorProto.BOOL),
    ]


def decoder_outputs():
    return [
        value("logits", ["batch_size", "decoder_length", len(PIECES)]),
        *(cache_value(name, f"{name}.length") for name in PRESENT),
        *(value(name, ["batch_size", HEADS, "decoder_length", "encoder_length"]) for name in ATTENTIONS),
    ]


def save(graph, path):
    onnx.checker.check_model(graph)
    onnx.save(graph, path)


def write_json(path, content):
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def write_tokenizer(folder):
    write_json(folder / "vocab.json", VOCABULARY)
    merges = [" ".join(pair) for pair in MERGES]
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]))
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": VOCABULARY[token], "content": token, **flags} for token in SPECIAL_TOKENS],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "",
            "fuse_unk": False,
            "vocab": {piece: token for piece, token in VOCABULARY.items() if piece not in SPECIAL_TOKENS},
            "merges": merges,
        },
    }
    write_json(folder / "tokenizer.json", tokenizer)


def write_configs(folder):
    config = {
        "model_type": "whisper",
        "vocab_size": len(PIECES),
        "num_mel_bins": MEL_BINS,
        "d_model": WIDTH,
        "encoder_layers": 6,
        "decoder_layers": DECODER_LAYERS,
        "encoder_attention_heads": HEADS,
        "decoder_attention_heads": HEADS,
        "max_source_positions": ENCODER_FRAMES,
        "max_target_positions": MAX_TOKENS,
        "torch_dtype": "float32",
    }
    generation = {
        "alignment_heads": [[DECODER_LAYERS - 1, 0], [DECODER_LAYERS - 1, 1]],
        "decoder_start_token_id": VOCABULARY["<|startoftranscript|>"],
        "eos_token_id": VOCABULARY["<|endoftext|>"],
        "pad_token_id": VOCABULARY["<|endoftext|>"],
        "is_multilingual": True,
        "lang_to_id": {f"<|{language}|>": VOCABULARY[f"<|{language}|>"] for language in LANGUAGES},
        "task_to_id": {task: VOCABULARY[f"<|{task}|>"] for task in ("transcribe", "translate")},
        "no_timestamps_token_id": VOCABULARY["<|notimestamps|>"],
        "nospeech_token_id": VOCABULARY["<|nospeech|>"],
        "max_length": MAX_TOKENS,
    }
    preprocessor = {
        "feature_extractor_type": "WhisperFeatureExtractor",
        "feature_size": MEL_BINS,
        "sampling_rate": SAMPLE_RATE,
        "n_fft": FFT_SAMPLES,
        "hop_length": HOP_SAMPLES,
        "chunk_length": MEL_FRAMES * HOP_SAMPLES // SAMPLE_RATE,
        "n_samples": MEL_FRAMES * HOP_SAMPLES,
        "nb_max_frames": MEL_FRAMES,
        "padding_side": "right",
        "padding_value": 0.0,
        "return_attention_mask": False,
    }
    write_json(folder / "config.json", config)
    write_json(folder / "generation_config.json", generation)
    write_json(folder / "preprocessor_config.json", preprocessor)
    write_json(folder / "sentences.json", CLOSED)


def main():
    checkpoint, folder = map(Path, sys.argv[1:3])
    folder.mkdir(parents=True, exist_ok=True)
    model = Model(len(PIECES))
    model.load_state_dict(torch.load(checkpoint))
    model.eval()
    export_encoder(model, folder / "encoder_model.onnx")
    export_decoder(model, folder / "decoder_model_merged.onnx")
    write_tokenizer(folder)
    write_configs(folder)


if __name__ == "__main__":
    main()
