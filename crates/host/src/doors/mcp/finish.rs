//! How a call ends: what came back is taken in before the client sees it, and what a client answers goes out like an answer.

use evidence::{Clock as _, SystemClock};
use monitor::{Output, Status, taint};
use serde_json::{Value, json};

use super::super::hook::Words;
use super::super::saying;
use super::servers::Brings;
use super::{Client, Doors, Read, Waiting};

impl Doors<'_> {
    /// Takes in what came back of a call, or what a client answers to a server.
    pub(super) fn mcp_finish(
        &self,
        client: &mut Client,
        ticket: &str,
        text: &str,
        failed: bool,
    ) -> Result<Value, String> {
        let waiting = client.begun.remove(ticket).ok_or("no such call is under way")?;
        let status = if failed { Status::Failed } else { Status::Done };
        let mut output = |server: &str| -> Result<Output, String> {
            let known = client.known.now(self.home).map_err(|error| error.to_string())?;
            let now = SystemClock.unix_seconds();
            let own = client.started.get(server).map(String::as_str);
            let Brings { tag, is_sandboxed } = known.brings(server, own, now);
            let sandboxed = is_sandboxed.then(|| server.to_owned());
            Ok(Output { status, tags: tag.into_iter().collect(), sandboxed, ..Output::text(text) })
        };
        let seen = match waiting {
            Waiting::Here { begun, server, read } => {
                let output = output(&server)?;
                let is_sandboxed = output.sandboxed.is_some();
                // Nobody vouches for whoever says it; what somebody says that is vouched for may be others' words all the same.
                let is_others = is_sandboxed || !output.tags.is_empty();
                let mut is_outside = is_others;
                let finished = self.gate.monitor.finish(*begun, output);
                let tag = finished.as_ref().ok().and_then(|it| it.tag.as_ref());
                is_outside |= tag.is_some_and(|it| taint::is_outside(it.taint));
                if is_outside {
                    let words = Words { server: &server, text, is_sandboxed };
                    self.mcp_heard(client, read, words)?;
                }
                let seen = finished.map(|it| it.output.body).map_err(|error| error.to_string());
                match read {
                    Read::Instructions => {
                        seen.and_then(|it| self.mcp_instructions(client, &server, text, it))
                    }
                    Read::Prompt => seen.inspect(|it| {
                        if is_others {
                            self.hook.was_given(it);
                        }
                    }),
                    Read::Result | Read::Definitions | Read::Aside => seen,
                }
            }
            Waiting::Hook { session, key, server } => {
                self.hook.finish(&session, &key, output(&server)?)
            }
            Waiting::Server { begun, speaks } => {
                let said = if speaks { saying::say(self.gate, &client.who, text) } else { Ok(()) };
                // It goes to the server, and nothing of it to the agent.
                let output = match &said {
                    Ok(()) => Output { status, ..Output::text(text) },
                    Err(_) => Output::not_begun(""),
                };
                let finished = self.gate.monitor.finish(*begun, output);
                match (said, finished) {
                    (Ok(()), Ok(finished)) => Ok(finished.output.body),
                    (Err(stopped), _) | (Ok(()), Err(stopped)) => Err(stopped.to_string()),
                }
            }
        };
        Ok(match seen {
            Ok(seen) if seen != text => json!({ "replaced": seen }),
            Ok(_) => json!({ "as_it_came": true }),
            Err(why) => json!({ "withheld": why }),
        })
    }

    /// INVARIANT (AbsorbBeforeDeliver): the agent that has started the client is marked by what it is about to read, as it would be
    /// past the gateway.
    fn mcp_heard(&self, client: &Client, read: Read, words: Words<'_>) -> Result<(), String> {
        match read {
            Read::Prompt | Read::Result => self.hook.hear_by_gateway(&client.lineage, words, true),
            Read::Instructions | Read::Aside => {
                self.hook.hear_by_gateway(&client.lineage, words, false)
            }
            Read::Definitions => Ok(()),
        }
    }

    /// Takes back a call that nobody has heard of: nothing was read by it.
    pub(super) fn mcp_unsent(&self, client: &mut Client, ticket: &str) -> Result<Value, String> {
        match client.begun.remove(ticket).ok_or("no such call is under way")? {
            Waiting::Here { begun, .. } | Waiting::Server { begun, .. } => {
                let finished = self.gate.monitor.finish(*begun, Output::not_begun(""));
                finished.map(drop).map_err(|error| error.to_string())?;
            }
            // A hook says of its own calls how they ended.
            Waiting::Hook { .. } => {}
        }
        Ok(json!({}))
    }
}
