//! What each ABI of Landlock can hold back, and what is open on a kernel whose ABI is older.
//!
//! Every right is asked for; the kernel is given those that it knows. What that leaves open is said
//! here, and where nothing else stands in for it, a level is not reached.
//!
//! Numbers of ABIs and the kernels they came with: the kernel's `userspace-api/landlock`.

use landlock::{AccessFs, AccessNet, BitFlags, Scope};

use crate::spec::Level;

/// The newest ABI that is known here. A newer kernel gives as much as this.
const NEWEST_LANDLOCK_ABI: u32 = 10;

/// The kernel that each ABI came with, from the first on.
const KERNELS: [&str; NEWEST_LANDLOCK_ABI as usize] = [
    "5.13", "5.19", "6.2", "6.7", "6.10", "6.12", "6.15", "7.0", "7.1", "7.2",
];

/// One right, as the kernel numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flag {
    File(AccessFs),
    Net(AccessNet),
    Scope(Scope),
}

/// Something that Landlock can hold back.
#[derive(Clone, Copy, Debug)]
struct Right {
    flag: Flag,
    /// The first ABI that has it.
    since: u32,
    /// What is open without it at the level `partial`; at `full` there are mounts and namespaces.
    /// Nothing where something else holds it back.
    open: Option<Open>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    what: &'static str,
    /// Whether what a level promises is not kept without it.
    is_promised: bool,
}

const fn file(flag: AccessFs, since: u32, open: Option<Open>) -> Right {
    Right {
        flag: Flag::File(flag),
        since,
        open,
    }
}

/// Every right that there is, by ABI. The seventh and the eighth brought none: they are about what is
/// logged, and about threads.
const RIGHTS: [Right; 23] = [
    file(AccessFs::Execute, 1, None),
    file(AccessFs::WriteFile, 1, None),
    file(AccessFs::ReadFile, 1, None),
    file(AccessFs::ReadDir, 1, None),
    file(AccessFs::RemoveDir, 1, None),
    file(AccessFs::RemoveFile, 1, None),
    file(AccessFs::MakeChar, 1, None),
    file(AccessFs::MakeDir, 1, None),
    file(AccessFs::MakeReg, 1, None),
    file(AccessFs::MakeSock, 1, None),
    file(AccessFs::MakeFifo, 1, None),
    file(AccessFs::MakeBlock, 1, None),
    file(AccessFs::MakeSym, 1, None),
    // Without it the kernel refuses this everywhere, also in the workspace.
    file(AccessFs::Refer, 2, None),
    file(
        AccessFs::Truncate,
        3,
        Some(Open {
            what: "files outside the workspace can be cut",
            is_promised: true,
        }),
    ),
    // The filter of system calls knows no sockets where the network is off.
    Right {
        flag: Flag::Net(AccessNet::BindTcp),
        since: 4,
        open: None,
    },
    Right {
        flag: Flag::Net(AccessNet::ConnectTcp),
        since: 4,
        open: None,
    },
    // Of devices only a few that have nothing to be told can be opened.
    file(AccessFs::IoctlDev, 5, None),
    Right {
        flag: Flag::Scope(Scope::Signal),
        since: 6,
        open: Some(Open {
            what: "other processes of the same user can be signalled",
            is_promised: false,
        }),
    },
    Right {
        flag: Flag::Scope(Scope::AbstractUnixSocket),
        since: 6,
        open: Some(Open {
            what: "with the network on, abstract sockets of this machine are reached",
            is_promised: false,
        }),
    },
    file(
        AccessFs::ResolveUnix,
        9,
        Some(Open {
            what: "with the network on, local sockets are reached where their file can be read",
            is_promised: false,
        }),
    ),
    // As TCP.
    Right {
        flag: Flag::Net(AccessNet::BindUdp),
        since: 10,
        open: None,
    },
    Right {
        flag: Flag::Net(AccessNet::ConnectSendUdp),
        since: 10,
        open: None,
    },
];

/// Rights, as a rule set takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rights {
    pub(crate) files: BitFlags<AccessFs>,
    pub(crate) net: BitFlags<AccessNet>,
    pub(crate) scopes: BitFlags<Scope>,
}

impl Rights {
    /// All that we ask for.
    pub(crate) fn all() -> Self {
        Self::of(NEWEST_LANDLOCK_ABI)
    }

    fn of(abi: u32) -> Self {
        let mut all = Self {
            files: BitFlags::EMPTY,
            net: BitFlags::EMPTY,
            scopes: BitFlags::EMPTY,
        };
        for right in RIGHTS.iter().filter(|right| right.since <= abi) {
            match right.flag {
                Flag::File(flag) => all.files |= flag,
                Flag::Net(flag) => all.net |= flag,
                Flag::Scope(flag) => all.scopes |= flag,
            }
        }
        all
    }
}

/// What a kernel's Landlock holds back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LandlockSupport {
    /// Its ABI; 0 where there is none.
    pub abi: u32,
    /// How many of the rights that we ask for it knows.
    pub rights: usize,
    /// How many we ask for.
    pub asked: usize,
    /// What is open without the others, one sentence each, with the kernel that closes it. At the
    /// level `full` namespaces and mounts stand in for it, but for abstract and local sockets with
    /// the network on.
    pub open: Vec<String>,
}

impl LandlockSupport {
    /// What an ABI gives.
    #[must_use]
    pub fn of(abi: u32) -> Self {
        let known = |right: &&Right| right.since <= abi;
        let open = RIGHTS.iter().filter(|right| !known(right));
        Self {
            abi,
            rights: RIGHTS.iter().filter(known).count(),
            asked: RIGHTS.len(),
            open: open.filter_map(said).collect(),
        }
    }
}

/// Why a level is not reached with an ABI; none where it is.
pub(crate) fn falls_short(abi: u32, level: Level) -> Option<String> {
    match level {
        Level::None => None,
        Level::Full | Level::Partial if abi == 0 => {
            Some("this kernel has no Landlock, or it is not enabled".to_owned())
        }
        Level::Full => None,
        Level::Partial => {
            let mut missing = RIGHTS.iter().filter(|right| right.since > abi);
            let broken = missing.find(|right| right.open.is_some_and(|open| open.is_promised))?;
            Some(format!("Landlock ABI {abi}: {}", said(broken)?))
        }
    }
}

/// What is open at the level `partial` without breaking what it promises.
pub(crate) fn open_at_partial(abi: u32) -> Vec<String> {
    let missing = RIGHTS.iter().filter(|right| right.since > abi);
    let open = missing.filter(|right| right.open.is_some_and(|open| !open.is_promised));
    open.filter_map(said).collect()
}

fn said(right: &Right) -> Option<String> {
    let open = right.open?;
    let kernel = KERNELS.get(right.since as usize - 1)?;
    Some(format!(
        "{} (until Landlock ABI {}, Linux {kernel})",
        open.what, right.since
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use landlock::{ABI, Access, CompatLevel, Compatible, Ruleset, RulesetAttr};
    use rstest::rstest;

    /// The table against the library's own, ABI by ABI: nothing is forgotten, and nothing is said to
    /// be there before it is.
    #[rstest]
    fn each_abi_has_exactly_the_rights_of_the_table(
        #[values(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)] abi: u32,
    ) {
        let library = ABI::from(i32::try_from(abi).unwrap());
        let Rights { files, net, scopes } = Rights::of(abi);
        assert_eq!(files, AccessFs::from_all(library));
        assert_eq!(net, AccessNet::from_all(library));
        assert_eq!(scopes, Scope::from_all(library));
    }

    /// What is asked of a kernel of each ABI, what of it is missing, and which levels that closes.
    #[rstest]
    #[case(0, 0, 4, [true, true])]
    #[case(1, 13, 4, [false, true])]
    #[case(2, 14, 4, [false, true])]
    #[case(3, 15, 3, [false, false])]
    #[case(4, 17, 3, [false, false])]
    #[case(5, 18, 3, [false, false])]
    #[case(6, 20, 1, [false, false])]
    #[case(7, 20, 1, [false, false])]
    #[case(8, 20, 1, [false, false])]
    #[case(9, 21, 0, [false, false])]
    #[case(10, 23, 0, [false, false])]
    #[case(99, 23, 0, [false, false])]
    fn what_an_abi_lacks_is_said_and_closes_what_it_breaks(
        #[case] abi: u32,
        #[case] rights: usize,
        #[case] open: usize,
        #[case] closed: [bool; 2],
    ) {
        let support = LandlockSupport::of(abi);
        assert_eq!((support.rights, support.asked), (rights, RIGHTS.len()));
        assert_eq!(support.open.len(), open, "{:?}", support.open);
        let closes = [Level::Full, Level::Partial].map(|level| falls_short(abi, level).is_some());
        assert_eq!(closes, closed);
        assert_eq!(falls_short(abi, Level::None), None);
        let promised = usize::from(abi < 3);
        assert_eq!(open_at_partial(abi).len(), open - promised);
    }

    #[test]
    fn what_closes_a_level_says_which_kernel_opens_it() {
        let why = falls_short(2, Level::Partial).unwrap();
        assert_eq!(
            why,
            "Landlock ABI 2: files outside the workspace can be cut (until Landlock ABI 3, Linux 6.2)"
        );
    }

    /// The kernel that runs this gives what its ABI says, and no more: as a hard requirement, which
    /// fails where a right is unknown.
    #[test]
    fn the_kernel_takes_every_right_of_its_abi_and_none_of_the_next() {
        let kernel = u32::try_from(crate::sys::landlock_abi()).unwrap_or(0);
        for abi in 1..=NEWEST_LANDLOCK_ABI {
            let Rights { files, net, scopes } = Rights::of(abi);
            let build = || {
                let mut rules = Ruleset::default()
                    .set_compatibility(CompatLevel::HardRequirement)
                    .handle_access(files)?;
                if !net.is_empty() {
                    rules = rules.handle_access(net)?;
                }
                if !scopes.is_empty() {
                    rules = rules.scope(scopes)?;
                }
                rules.create()
            };
            let new = RIGHTS
                .iter()
                .any(|right| right.since > kernel && right.since <= abi);
            assert_eq!(build().is_ok(), kernel > 0 && !new, "ABI {abi} of {kernel}");
        }
    }
}
