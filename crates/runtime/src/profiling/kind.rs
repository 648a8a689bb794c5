use serde::Serialize;

/// What a span tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// Host: a file into memory.
    Read,
    /// Host: a file in memory to pixels.
    Decode,
    /// Host: pixels to a file in memory.
    Encode,
    /// Host: a file from memory to its place.
    Write,
    /// Host: an execution as its caller sees it.
    Execute,
    /// Host: copying frames behind each other into one batch.
    Gather,
    /// Host: planning for new shapes.
    Plan,
    /// Host: making a session, or preparing one group of it (compiling, building tables).
    Load,
    /// Host: handing one run to the device.
    Submit,
    /// Host: handing one command over, within that.
    Queue,
    /// Host: writing a run down and making a graph of it.
    Capture,
    /// Host: handing a captured graph over.
    Replay,
    /// Host: waiting for the end of a run.
    Wait,
    /// Device: pixels on their way to it.
    Upload,
    /// Device: a group of tasks.
    Compute,
    /// Device: pixels on their way from it.
    Download,
    /// Device: a captured graph from its begin to its end.
    Graph,
}

impl Kind {
    /// The name in traces and summaries.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Decode => "decode",
            Self::Encode => "encode",
            Self::Write => "write",
            Self::Execute => "execute",
            Self::Gather => "gather",
            Self::Plan => "plan",
            Self::Load => "load",
            Self::Submit => "submit",
            Self::Queue => "queue",
            Self::Capture => "capture",
            Self::Replay => "replay",
            Self::Wait => "wait",
            Self::Upload => "upload",
            Self::Compute => "compute",
            Self::Download => "download",
            Self::Graph => "graph",
        }
    }

    /// Whether it is done to a file, around executions.
    pub const fn is_of_files(self) -> bool {
        matches!(self, Self::Read | Self::Decode | Self::Encode | Self::Write)
    }

    /// Whether it happens on a stream, timed by the device.
    pub const fn is_on_device(self) -> bool {
        matches!(self, Self::Upload | Self::Compute | Self::Download | Self::Graph)
    }
}
