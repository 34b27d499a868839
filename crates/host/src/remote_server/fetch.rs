//! Documents of servers and issuers that were found and not named.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ::mcp::http::client::oauth::{DOCUMENT_BYTES_MAX, Fetch, Fetched};
use egress::{Piece, Question, Verb};
use url::Url;
use zeroize::Zeroizing;

use crate::named::NamedWay;

/// Time for one document.
const DOCUMENT_WAIT: Duration = Duration::from_secs(20);

/// Asks whoever was found, where the settings let it.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    /// The way to the server that led there.
    pub way: &'a NamedWay,
}

impl Fetch for Found<'_> {
    fn get(&self, url: &Url) -> Result<Fetched, String> {
        self.ask(Verb::Get, url, Vec::new(), Zeroizing::default())
    }

    fn post(
        &self,
        url: &Url,
        media_type: &str,
        body: Zeroizing<String>,
    ) -> Result<Fetched, String> {
        let field = ("content-type".to_owned(), Zeroizing::new(media_type.to_owned()));
        self.ask(Verb::Post, url, vec![field], body)
    }
}

impl Found<'_> {
    fn ask(
        &self,
        verb: Verb,
        url: &Url,
        mut headers: Vec<(String, Zeroizing<String>)>,
        body: Zeroizing<String>,
    ) -> Result<Fetched, String> {
        let target = self.way.found(url.as_str()).map_err(|refused| refused.to_string())?;
        headers.push(("accept".to_owned(), Zeroizing::new("application/json".to_owned())));
        let body = body.as_bytes().to_vec().into();
        let question =
            Question { verb, target: &target, hidden: None, headers, body, wait: DOCUMENT_WAIT };
        let (is_cancelled, end) = (AtomicBool::new(false), Instant::now() + DOCUMENT_WAIT);
        let mut answer =
            self.way.servers().ask(&question, &is_cancelled).map_err(|error| error.to_string())?;
        let mut body = Zeroizing::new(Vec::new());
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match answer.next(left).map_err(|error| error.to_string())? {
                Piece::End => return Ok(Fetched { status: answer.status, body }),
                Piece::Still => return Err("the answer took too long".to_owned()),
                Piece::Data(data) if body.len() + data.len() > DOCUMENT_BYTES_MAX => {
                    return Err(format!("the answer has more than {DOCUMENT_BYTES_MAX} bytes"));
                }
                Piece::Data(data) => body.extend_from_slice(&data),
            }
        }
    }
}
