"""`flashmetal bench`: what a call costs, beside its peers and the machine's limits.

Installed as `flashmetal.bench`. Nothing of the package but its command line imports it, and it
imports a peer when the peer is measured.
"""
