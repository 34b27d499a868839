//! A bare pass-through, written with the official SDK: a server by HTTP whose tools are those of a server on pipes. No check, no
//! gate, no record.
//!
//! ```text
//! mcp-http-peer ADDRESS COMMAND…    prints where it listens, as JSON, and serves until it is ended
//! ```

use std::error::Error;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, ServiceExt as _};
use rmcp::transport::TokioChildProcess;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleClient, RoleServer, ServerHandler};
use tokio::net::TcpListener;
use tokio::process::Command;

/// Passes calls on to the server behind it.
#[derive(Clone)]
struct Forward(Peer<RoleClient>);

fn failed(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

impl ServerHandler for Forward {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.0.call_tool(request).await.map(Into::into).map_err(failed)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.0.list_tools(request).await.map_err(failed)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (address, program) = words.next().zip(words.next()).ok_or("ADDRESS COMMAND…")?;
    let mut command = Command::new(program);
    command.args(words);
    let server = ().serve(TokioChildProcess::new(command)?).await?;
    let peer = server.peer().clone();
    // Each request for itself, answered by one JSON object: what this SDK does fastest.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true);
    let sessions = Arc::new(NeverSessionManager::default());
    let service =
        StreamableHttpService::new(move || Ok(Forward(peer.clone())), sessions, config);
    let listener = TcpListener::bind(address).await?;
    println!("{{\"url\":\"http://{}/mcp\"}}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
