//! The server: it listens, answers, and ends in order.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agent::{Voice, WorkerShown};
use model::ipc::Uuid;
use policy::access::ServeSettings;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::admit::{charge, may_use};
use crate::app::{App, Parts, StartError};
use crate::certificate::Certificate;
use crate::channels;
use crate::directory::Directory;
use crate::frame::ErrorCode;
use crate::limits::{BLOCKING_THREADS_MAX, DRAIN_MAX, WORKERS_END_MAX};
use crate::listen;
use crate::log::{About, Event};
use crate::lookout::Lookout;
use crate::opening::open_session;
use crate::reload::{self, Reloaded};
use crate::restart;
use crate::retention::keep_house;
use crate::rules::Rules;
use crate::socket;
use crate::sockets::Closing;
use crate::turn::{self, Answered, Asked, Refused};
use crate::turns::Key;

/// A server that is bound and not yet running.
pub struct Server {
    app: Arc<App>,
    listener: TcpListener,
    stop: (watch::Sender<Stage>, watch::Receiver<Stage>),
    runtime: Arc<OnceLock<tokio::runtime::Handle>>,
}

/// Tells a server what to do, from any thread.
#[derive(Clone)]
pub struct Handle {
    pub(crate) app: Arc<App>,
    stop: watch::Sender<Stage>,
    runtime: Arc<OnceLock<tokio::runtime::Handle>>,
}

/// The answer to a message.
#[derive(Clone, Debug)]
pub struct Sent {
    /// In which session.
    pub session: String,
    /// What the agent said.
    pub content: String,
    /// Whether somebody ended its turn before it had said everything.
    pub interrupted: bool,
}

/// How far the end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Serving.
    Serving,
    /// Nothing new begins.
    Draining,
    /// Now.
    Over,
}

/// Threads that answer requests. They never block.
const THREADS: usize = 2;
/// How long sockets may take to hear that it is over.
const CLOSE_MAX: Duration = Duration::from_secs(2);
/// How often it is looked whether all turns have ended.
const LOOK: Duration = Duration::from_millis(20);

impl Server {
    /// Binds `address`. Nobody is answered before [`Server::run`].
    ///
    /// # Errors
    /// If the files are not understood, the address is not to be had, or others reach it and nothing protects tokens.
    pub fn bind(address: SocketAddr, parts: Parts) -> Result<Self, StartError> {
        let directory = Directory::load(&parts.home)?;
        let settings = &directory.settings;
        let certificate = settings.tls.as_ref().map(Certificate::read).transpose();
        let certificate = certificate.map_err(StartError::Tls)?;
        if is_exposed(address, settings.tls.is_some(), settings) {
            return Err(StartError::Exposed(address));
        }
        let failed = |error| StartError::Address(address, error);
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let app = Arc::new(App::new(parts, address, directory, certificate)?);
        Ok(Self { app, listener, stop: watch::channel(Stage::Serving), runtime: Arc::default() })
    }

    /// The same, where somebody can read the rules again.
    #[must_use]
    pub fn reading_rules(self, rules: Arc<dyn Rules>) -> Self {
        // Said twice, the first one counts.
        let _ = self.app.rules.set(rules);
        self
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.app.address
    }

    /// By which it is told what to do.
    #[must_use]
    pub fn handle(&self) -> Handle {
        let runtime = Arc::clone(&self.runtime);
        Handle { app: Arc::clone(&self.app), stop: self.stop.0.clone(), runtime }
    }

    /// Serves until it is told to end, and ends in order.
    ///
    /// # Errors
    /// If the system has no threads for it.
    pub fn run(self) -> Result<(), StartError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .max_blocking_threads(BLOCKING_THREADS_MAX)
            .thread_name("serve")
            .enable_all()
            .build()?;
        let app = Arc::clone(&self.app);
        // It is set once, here.
        let _ = self.runtime.set(runtime.handle().clone());
        runtime.block_on(self.serve())?;
        runtime.shutdown_timeout(WORKERS_END_MAX);
        app.log(Event::ServerShutdown, About::default(), json!({}));
        app.parts.log.close();
        Ok(())
    }

    async fn serve(self) -> Result<(), StartError> {
        let Self { app, listener, stop: (_tell, mut stop), .. } = self;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let missing = app.directory().missing();
        let details = json!({ "address": app.address.to_string(), "missingAgents": missing });
        app.log(Event::ServerStarted, About::default(), details);
        Lookout::begin(&app);
        let listening = channels::begin(&app)?;
        let watching = tokio::spawn(reload::watch(Arc::clone(&app)));
        let keeping = tokio::spawn(keep_house(Arc::clone(&app)));
        let accepting = tokio::spawn(listen::accept(Arc::clone(&app), listener, stop.clone()));
        // Whoever could say it has gone: that is the end as well.
        let _ = stop.wait_for(|it| *it >= Stage::Draining).await;
        app.draining.store(true, Ordering::Release);
        listening.stop();
        let running = app.workers.count();
        app.log(Event::ServerDraining, About::default(), json!({ "turns": running }));
        drain(&app, stop.clone()).await;
        close_workers(&app).await;
        listening.end().await;
        app.sockets.close_all(Closing::Shutdown);
        let closed = async {
            while app.sockets.count() > 0 {
                tokio::time::sleep(LOOK).await;
            }
        };
        let _ = tokio::time::timeout(CLOSE_MAX, closed).await;
        for task in [watching, keeping] {
            task.abort();
        }
        accepting.abort();
        Ok(())
    }
}

/// Do others reach the address, and nothing protects the tokens on their way?
pub(crate) fn is_exposed(address: SocketAddr, has_tls: bool, settings: &ServeSettings) -> bool {
    let is_protected = has_tls || !settings.behind_proxy.is_empty();
    !address.ip().is_loopback() && !is_protected
}

/// Waits for the turns that run.
async fn drain(app: &Arc<App>, mut stop: watch::Receiver<Stage>) {
    // A turn has ended when its answer was kept and said, not when its worker has.
    let ended = async {
        while !app.queues.is_empty() {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::select! {
        () = ended => {}
        () = tokio::time::sleep(DRAIN_MAX) => {}
        _ = stop.wait_for(|it| *it >= Stage::Over) => {}
    }
}

/// Interrupts what still runs, and lets the runtime end its workers.
async fn close_workers(app: &Arc<App>) {
    let closing = app.blocking(|app| {
        for (_, running) in app.workers.list() {
            let key = &running.key;
            app.interrupt(key);
            app.parts.runtime.close(&key.user, &key.agent, &key.session);
        }
    });
    let ended = async {
        closing.await.unwrap_or_default();
        while !app.queues.is_empty() {
            tokio::time::sleep(LOOK).await;
        }
    };
    let _ = tokio::time::timeout(WORKERS_END_MAX, ended).await;
}

impl Handle {
    /// Ends in order: nothing new begins, and what runs has half a minute. Said twice, it ends at once.
    pub fn stop(&self) {
        self.stop.send_modify(|stage| {
            *stage = match stage {
                Stage::Serving => Stage::Draining,
                Stage::Draining | Stage::Over => Stage::Over,
            }
        });
    }

    /// Says something to an agent for a user, on the word of the operator at this machine, with the user's limits and
    /// budget. The user agrees to the version of the policy that is named. Gives the session and the answer.
    ///
    /// # Errors
    /// A code and a sentence, if there is no answer.
    pub fn send(
        &self,
        user: &str,
        agent: &str,
        session: Option<&str>,
        content: &str,
        agree: Option<&str>,
    ) -> Result<Sent, (String, String)> {
        let refused = |it: Refused| (it.code.as_str().to_owned(), it.message);
        let unknown = |what: &str| (ErrorCode::InvalidMessage.as_str().to_owned(), what.to_owned());
        let known = self.app.directory().named(user);
        let known = known.ok_or_else(|| unknown("there is no such user in users.yaml"))?;
        let session = match session.map(Uuid::parse) {
            Some(None) => return Err(unknown("the session is no UUID")),
            Some(session) => session,
            None => None,
        };
        let runtime = self.runtime.get().ok_or_else(|| unknown("the server does not run yet"))?;
        runtime.block_on(async {
            charge(&self.app, user).map_err(refused)?;
            may_use(&self.app.directory(), &known, agent).map_err(refused)?;
            if let Some(version) = agree {
                socket::agree(&self.app, &known, version.to_owned()).await.map_err(refused)?;
            }
            let once = session.is_none();
            let session = open_session(&self.app, &known, agent, session).await.map_err(refused)?;
            let key = Key { user: user.to_owned(), agent: agent.to_owned(), session };
            let said = json!({
                "by": "operator", "user": user, "agent": agent, "session": key.session, "agreed": agree,
            });
            let recorded = self.app.blocking(|app| app.record("serve_said", said).is_ok()).await;
            if recorded != Some(true) {
                return Err(refused(turn::internal("it cannot be recorded")));
            }
            let (content, key_of) = (content.to_owned(), key.clone());
            let asked =
                Asked { known, key: key_of, content, voice: Voice::User, earlier: None, once };
            let waiting = self.app.queues.enqueue(&key);
            let answered = turn::run(&self.app, asked, waiting).await.map_err(refused)?;
            let Answered { content, interrupted, .. } = answered;
            Ok(Sent { session: key.session, content, interrupted })
        })
    }

    /// Reads the files again, and tells what of them counts now.
    ///
    /// # Errors
    /// If the settings, the users or the rules are not understood: then everything stays as it was.
    pub fn reload(&self) -> Result<Reloaded, String> {
        reload::now(&self.app)
    }

    /// What goes on.
    #[must_use]
    pub fn status(&self) -> Value {
        let directory = self.app.directory();
        json!({
            "address": self.app.address.to_string(),
            "uptime": self.app.began.elapsed().as_secs(),
            "draining": self.app.is_draining(),
            "sockets": self.app.sockets.count(),
            "connections": self.app.connections.load(Ordering::Relaxed),
            "workers": { "active": self.app.workers.count(), "max": directory.settings.max_workers.get() },
            "users": directory.users.iter().count(),
            "agents": directory.manifests.len(),
            "channels": channels::shown(&self.app),
            "broken": directory.broken.iter().map(|it| &it.0).collect::<Vec<_>>(),
            "needsRestart": restart::needed(&self.app.begun, &directory),
        })
    }

    /// The turns that run, by their numbers, and the workers that wait for the next one.
    #[must_use]
    pub fn workers(&self) -> Value {
        let running = self.app.workers.list();
        let has_turn = |it: &WorkerShown| {
            let is_its = |key: &Key| {
                key.user == it.user && key.agent == it.agent && key.session == it.session
            };
            running.iter().any(|(_, turn)| is_its(&turn.key))
        };
        let idle = self.app.parts.runtime.workers().into_iter().filter(|it| !has_turn(it));
        let idle = idle.map(|it| {
            json!({
                "id": null, "state": if it.is_busy { "busy" } else { "idle" },
                "user": it.user, "agent": it.agent, "session": it.session,
                "seconds": it.idle_seconds,
            })
        });
        let turns = running.iter().map(|(id, it)| {
            json!({
                "id": id, "state": "busy",
                "user": it.key.user, "agent": it.key.agent, "session": it.key.session,
                "seconds": it.since.elapsed().as_secs(),
            })
        });
        json!({ "workers": turns.chain(idle).collect::<Vec<_>>() })
    }

    /// Ends the worker of a session, with the turn that it may have. It is on record first.
    ///
    /// # Errors
    /// If it cannot be recorded: then it goes on.
    pub fn end_session(&self, user: &str, agent: &str, session: &str) -> Result<(), String> {
        let content = json!({ "by": "operator", "user": user, "agent": agent, "ended": session });
        self.app.record("serve_session_ended", content).map_err(|error| error.to_string())?;
        let [user, agent, session] = [user, agent, session].map(str::to_owned);
        let key = Key { user, agent, session };
        self.app.interrupt(&key);
        self.app.parts.runtime.close(&key.user, &key.agent, &key.session);
        turn::session_ended(&self.app, &key, "operator");
        Ok(())
    }

    /// Ends the turn of this number, and its worker. Was there one? It is on record first.
    ///
    /// # Errors
    /// If it cannot be recorded: then it goes on.
    pub fn kill(&self, id: u64) -> Result<bool, String> {
        let Some(running) = self.app.workers.get(id) else { return Ok(false) };
        let key = running.key;
        let Key { user, agent, session } = &key;
        let content =
            json!({ "by": "operator", "user": user, "agent": agent, "killed": session, "id": id });
        self.app.record("serve_worker_killed", content).map_err(|error| error.to_string())?;
        self.app.log(Event::WorkerKilled, turn::about(&key), json!({ "by": "operator" }));
        self.app.interrupt(&key);
        self.app.parts.runtime.close(user, agent, session);
        Ok(true)
    }
}
