use serde::Serialize;

/// How a device divides the work of a group, for people to read: what it runs is its own business.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tiling {
    /// What is launched, in order.
    pub kernels: Vec<Tiles>,
    /// Why there is one launch for each stage; `None` where one does all.
    pub unfused: Option<String>,
}

/// The pieces that one launch is made of. Each makes a rectangle of the results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tiles {
    /// The stages that it computes, by index into the group; those of the first branch, where it is for several.
    pub stages: Vec<usize>,
    /// Columns and rows of the result that a tile makes at most, where they are the same for all.
    pub size: Option<[u64; 2]>,
    /// Tiles of one frame, across and down.
    pub frame: [u64; 2],
    /// Tiles of all frames (and planes, where each is an image of its own) of all branches that it is for.
    pub count: u64,
    /// Threads that make a tile together.
    pub threads: u32,
    /// Memory beside the processor that a tile works in, in bytes: shared memory of a block; row caches of a thread.
    pub local_bytes: u64,
    /// Tiles that are made at once, where that is known: as many as threads share the work, or as registers are set
    /// aside for on all multiprocessors.
    pub at_once: Option<u64>,
    /// Pixels computed (or brought to local memory) for each one kept: above 1 where tiles compute what their
    /// neighbours compute too, or reach over the edge of the image.
    pub halo: Option<f64>,
}
