//! `lazaret sessions recover`: a person goes on with a store that does not know what the journal knows.

use serde_json::json;
use store::{Bond, REASON_BYTES_MAX};

use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Go on although the store was lost, emptied, exchanged or put back from an older copy.
///
/// A gate does not begin with a store that does not know what it knew before: sessions that have read something from
/// outside would begin anew without their labels. If the right file cannot be put back, this takes the one that is there
/// from now on, or makes an empty one. What was lost is lost: memory, approvals, and the labels of sessions and files.
/// Give sessions new names afterwards, or treat what they hold as untrusted.
///
/// It is on record who accepted that, and why.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: Home,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Accept that labels are lost.
    #[arg(long)]
    accept_lost_state: bool,
    #[command(flatten)]
    by: By,
    /// Why, in your own words.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if !args.accept_lost_state {
        let why = "put the file back; or say --accept-lost-state, and labels are lost";
        return Err(Failure::usage(why));
    }
    if args.reason.len() > REASON_BYTES_MAX {
        return Err(Failure::usage(format!("a reason has at most {REASON_BYTES_MAX} bytes")));
    }
    let dir = args.home.dir()?;
    let accept = || Bond::of(&dir).dangerously_accept().map_err(Failure::unable);
    let content = json!({ "reason": args.reason });
    Act::around(&args.home, &args.by, (ACCEPTED, NOT_ACCEPTED), content, accept)?;
    let said = "the store that is there is the one from now on";
    output::done(args.json, &json!({ "outcome": "recovered" }), said);
    output::note("labels that it does not know are lost; sessions of before begin without them");
    Ok(Exit::Done)
}

const ACCEPTED: &str = "state_loss_accepted";
const NOT_ACCEPTED: &str = "state_loss_not_accepted";
