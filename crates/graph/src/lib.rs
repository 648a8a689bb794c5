//! mip-graph.
