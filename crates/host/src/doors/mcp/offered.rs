//! Prompts, resources and templates of servers: their definitions are pinned as those of tools are.

use ::mcp::Offer;
use serde_json::{Value, json};

use super::definitions::not_kept;
use super::request::Judged;
use super::servers::{Seen, Servers, ServersError};
use super::{Client, Doors};

/// Why something is not used that is held.
pub(super) fn held_because(asked: &Judged<'_>) -> String {
    let server = asked.server;
    format!(
        "the definition of this {} of `{server}` is not the one that was accepted: `lazaret mcp accept {server}`",
        asked.kind
    )
}

impl Doors<'_> {
    /// Takes in a list of what a server offers beside tools, and says what of it is held.
    pub(super) fn mcp_offers(
        &self,
        client: &mut Client,
        server: &str,
        list: &str,
        (items, is_continued): (&[Value], bool),
    ) -> Result<Value, String> {
        let offer = Offer::ALL.into_iter().find(|it| it.key() == list);
        let offer = offer.ok_or("there is no such list")?;
        let unable = |error: ServersError| error.to_string();
        let known = client.known.now(self.home).map_err(unable)?;
        let is_first = client.listed.is_first_offer(known, server, offer, is_continued);
        // Most lists are as they were: then nothing is written.
        let mut seen = Seen::default();
        if !known.are_offers_accepted(server, offer, items) {
            seen = known.only(server).see_offers(server, offer, items, is_first);
        }
        if seen.is_new {
            let see = |it: &mut Servers| it.see_offers(server, offer, items, is_first);
            seen = Servers::note(self.home, see).map_err(unable)?;
        }
        for change in &seen.changed {
            let content = json!({
                "server": server, offer.word(): change.tool, "diff": change.diff,
            });
            self.mcp_record(client, "mcp_definition_changed", content);
        }
        for added in &seen.added {
            let content = json!({
                "server": server, offer.word(): added.tool, "sha256": added.after, "definition": added.diff,
            });
            self.mcp_record(client, "mcp_offer_added", content);
        }
        if seen.is_crowded {
            self.mcp_record(client, "mcp_definitions_not_kept", not_kept(server, &seen));
        }
        Ok(json!({ "held": seen.held }))
    }
}
