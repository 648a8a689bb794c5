use mip_plan::{BufferId, GroupId, TaskId};

/// What is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanFault {
    /// A batch, stream or group count that makes no sense.
    #[error("{what} is {given}")]
    Count {
        /// What is counted.
        what: &'static str,
        /// The number.
        given: usize,
    },
    /// An index that points nowhere, or at something that does not point back.
    #[error("{place}: {problem}")]
    Reference {
        /// Where it stands ("buffer 3 ('gray')").
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A buffer whose strides or shape are not those of what is stored in it.
    #[error("buffer {buffer}: {problem}")]
    Layout {
        /// The buffer.
        buffer: BufferId,
        /// What is wrong with it.
        problem: String,
    },
    /// A kernel that does not fit its inputs, output or uniforms.
    #[error("group {group}, stage {stage}: {problem}")]
    Stage {
        /// The group.
        group: GroupId,
        /// Index of the stage in the group.
        stage: usize,
        /// What does not fit.
        problem: String,
    },
    /// A group launched before something it needs.
    #[error("group {group} needs group {needs}, which is not launched before it")]
    LaunchOrder {
        /// The group.
        group: GroupId,
        /// What it needs.
        needs: GroupId,
    },
    /// Dependencies that are not those the stages have.
    #[error("group {group} depends on {listed:?}, but reads what {actual:?} write")]
    Dependencies {
        /// The group.
        group: GroupId,
        /// What the plan says.
        listed: Vec<GroupId>,
        /// What the stages say.
        actual: Vec<GroupId>,
    },
    /// A wait for a group on the same stream or later in launch order.
    #[error("group {group} cannot wait for group {on}: {problem}")]
    ImpossibleWait {
        /// The group that waits.
        group: GroupId,
        /// The group waited for.
        on: GroupId,
        /// Why not.
        problem: &'static str,
    },
    /// A dependency that neither streams nor waits order.
    #[error("group {group} may start before group {needs}, which it depends on, has finished")]
    Unordered {
        /// The group.
        group: GroupId,
        /// What it needs.
        needs: GroupId,
    },
    /// A wait that could be left out.
    #[error("the wait of group {group} for group {on} is needless: {problem}")]
    NeedlessWait {
        /// The group that waits.
        group: GroupId,
        /// The group waited for.
        on: GroupId,
        /// Why it is needless.
        problem: &'static str,
    },
    /// A range outside the arena or off alignment.
    #[error("{what} at {offset} with {bytes} bytes does not fit the arena of {arena_bytes}: {problem}")]
    Range {
        /// The buffer or workspace.
        what: String,
        /// Its offset.
        offset: usize,
        /// Its size.
        bytes: usize,
        /// The arena's size.
        arena_bytes: usize,
        /// What does not fit.
        problem: &'static str,
    },
    /// Two ranges that share bytes and may be alive at once.
    #[error("{first} and {second} share bytes of the arena and may be in use at once")]
    Overlap {
        /// One buffer or workspace.
        first: String,
        /// The other.
        second: String,
    },
    /// A task whose description does not fit its group.
    #[error("task {task} ('{name}'): {problem}")]
    Task {
        /// The task.
        task: TaskId,
        /// Its name.
        name: String,
        /// What is wrong.
        problem: String,
    },
}
