use serde::Serialize;

/// What a scheduler has queued on devices so far. Refused commands do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SchedulerStats {
    /// Executions.
    pub runs: u64,
    /// Groups queued.
    pub launches: u64,
    /// Events recorded.
    pub events_recorded: u64,
    /// Waits queued.
    pub waits: u64,
    /// Images copied to the device.
    pub uploads: u64,
    /// Images copied from the device.
    pub downloads: u64,
    /// Blocks given back in stream order.
    pub frees: u64,
    /// Times taken, for profiles.
    pub timestamps: u64,
    /// Captured graphs queued; what is inside does not count again.
    pub graph_launches: u64,
    /// Commands of any kind.
    pub commands: u64,
}

impl SchedulerStats {
    pub(super) const fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.launches += other.launches;
        self.events_recorded += other.events_recorded;
        self.waits += other.waits;
        self.uploads += other.uploads;
        self.downloads += other.downloads;
        self.frees += other.frees;
        self.timestamps += other.timestamps;
        self.graph_launches += other.graph_launches;
        self.commands += other.commands;
    }
}
