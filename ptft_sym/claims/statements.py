"""What each claim says, and the command that reproduces its evidence (THEORY section 8)."""

STATEMENTS = {
    "C1": (
        "Gradient flow of the two-path network conserves four quantities and has the closed form beta = c sinh(2R).",
        "ptft derive gradient_flow; ptft claims C1",
    ),
    "C2": (
        "The limit of gradient flow minimises the potential Q_k among all interpolators (Theorem 4.1).",
        "ptft derive implicit_bias; ptft claims C2",
    ),
    "C3": (
        "Pretraining enters fine-tuning through the effective scale c_FT (k_d = 4 c_FT^2) alone.",
        "ptft derive fine_tuning; ptft claims C3",
    ),
    "C4": ("l-order lies in [1, 2] and pretraining dependence in [-1, 0].", "ptft derive metrics; ptft claims C4"),
    "C5": ("Trade-off: l-order + PD lies in [1, 2].", "ptft derive metrics; ptft claims C5"),
    "C6": (
        "Regimes I (rich, independent), II (lazy, dependent) and III (lazy, independent) are limits; IV lies between.",
        "ptft derive regimes; ptft claims C6",
    ),
    "C7": (
        "The replica saddle point predicts the error of diagonal networks, for perfect and imperfect pretraining.",
        "ptft simulate; ptft claims C7",
    ),
    "C8": ("Full overlap: the lazy, pretraining-dependent end (lam -> 1, regime II) is best.", "ptft claims C8"),
    "C9": ("No overlap: the rich, pretraining-independent end (lam -> -1, regime I) is best.", "ptft claims C9"),
    "C10": (
        "Fine-tuning support a subset of pretraining support: an intermediate lam (regime IV) is best.",
        "ptft claims C10",
    ),
    "C11": ("Imperfect pretraining: a negative lam helps even at full overlap.", "ptft claims C11"),
    "C12": (
        "ResNet: a smaller relative scale of earlier layers helps; absolute scale and readout scale gamma matter.",
        "python benchmarks/nonlinear.py --only resnet",
    ),
    "C13": (
        "Representation: participation ratio falls in fine-tuning, dimensions shared with the pretrained state stay.",
        "python benchmarks/nonlinear.py --only resnet",
    ),
    "C14": (
        "Transformers on modular arithmetic: lower balancedness helps, most on new prime factors.",
        "python benchmarks/nonlinear.py --only transformer",
    ),
}
