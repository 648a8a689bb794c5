use clap::Args;

/// How results become rows of one array.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ArrayArgs {
    /// With -o NAME.npy: one array also of one image, with a first axis of length 1
    #[arg(long)]
    pub(crate) stack: bool,
    /// With -o NAME.npy: arrays of so many images each, NAME-00000.npy and so on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) shard: Option<u64>,
}
