//! The engine: one browser, launched on first use, launched again when it died, ended with the engine.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use cove_core::{BoxFuture, Engine, EngineError, EngineName, Session, SessionOptions};
use tokio::sync::{Notify, Semaphore};

use crate::browser::Browser;
use crate::find::find_browser;
use crate::network::{Lease, Proxies, Wish};
use crate::options::ChromeOptions;
use crate::owner_thread::OwnerThread;
use crate::session::ChromeSession;
use crate::tab::Tab;

/// Chrome as an engine. Dropping it ends the browser and everything of it.
pub struct ChromeEngine {
    inner: Arc<Inner>,
    owner_thread: Result<OwnerThread, String>,
}

/// What the owner thread's tasks share.
struct Inner {
    options: ChromeOptions,
    /// One launch at a time.
    launching: tokio::sync::Mutex<()>,
    /// Tells a launch that nobody waits for it any more.
    stop: Notify,
    browser: Mutex<Option<Arc<Browser>>>,
    /// Browsers that died: what is left of them is still being cleared away.
    dead: Mutex<Vec<Arc<Browser>>>,
    proxies: tokio::sync::OnceCell<Arc<Proxies>>,
    seats: Arc<Semaphore>,
}

impl ChromeEngine {
    /// An engine that launches its browser when the first session asks for one.
    pub fn new(options: ChromeOptions) -> Self {
        let inner = Arc::new(Inner {
            seats: Arc::new(Semaphore::new(options.max_sessions.max(1))),
            options,
            launching: tokio::sync::Mutex::new(()),
            stop: Notify::new(),
            browser: Mutex::new(None),
            dead: Mutex::default(),
            proxies: tokio::sync::OnceCell::new(),
        });
        let last = {
            let inner = inner.clone();
            move || async move { inner.end().await }
        };
        let owner_thread =
            OwnerThread::start(last).map_err(|error| format!("the browser's thread could not be started: {error}"));
        Self { inner, owner_thread }
    }

    /// Launches the browser now, as a server does at its start; says why if it cannot be had.
    pub async fn start(&self) -> Result<(), EngineError> {
        let inner = self.inner.clone();
        self.on_owner_thread(async move { inner.browser().await.map(drop) }).await
    }

    /// The browser's process id, while there is one.
    pub fn pid(&self) -> Option<u32> {
        self.inner.current().filter(|browser| browser.is_alive()).map(|browser| browser.pid)
    }

    /// How many warm tabs wait at this moment.
    pub fn ready_tabs(&self) -> usize {
        self.inner.current().map_or(0, |browser| browser.pool.len())
    }

    /// Ends the browser and waits until nothing of it is left. The next session would launch another one.
    pub async fn close(&self) {
        let inner = self.inner.clone();
        let ended = async move {
            inner.end().await;
            Ok(())
        };
        let _ = self.on_owner_thread(ended).await;
    }

    /// Runs `work` on the owner thread; dropping the returned future does not interrupt it half-way.
    async fn on_owner_thread<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, EngineError>> + Send + 'static,
    ) -> Result<T, EngineError> {
        let owner_thread = self.owner_thread.as_ref().map_err(|error| EngineError::Unavailable(error.clone()))?;
        owner_thread.handle().spawn(work).await.map_err(|_| EngineError::Open("the engine has ended".to_owned()))?
    }
}

impl std::fmt::Debug for ChromeEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChromeEngine").field("pid", &self.pid()).finish_non_exhaustive()
    }
}

impl Engine for ChromeEngine {
    fn name(&self) -> EngineName {
        EngineName::Browser
    }

    fn is_here(&self) -> bool {
        let launched = || self.inner.current().is_some_and(|browser| browser.is_alive());
        self.owner_thread.is_ok() && (launched() || find_browser(self.inner.options.browser.as_deref()).is_ok())
    }

    fn open(&self, options: SessionOptions) -> BoxFuture<'_, Result<Box<dyn Session>, EngineError>> {
        Box::pin(async move {
            let wait = self.inner.options.open_timeout;
            let opened = async {
                let seat = self.inner.seats.clone().acquire_owned().await;
                let seat = seat.map_err(|_| EngineError::Open("the engine has ended".to_owned()))?;
                let inner = self.inner.clone();
                let wish = Wish::of(&options);
                let (tab, browser, lease) = self.on_owner_thread(async move { inner.tab(&wish).await }).await?;
                Ok((seat, tab, browser, lease))
            };
            let opened = tokio::time::timeout(wait, opened).await;
            let (seat, tab, browser, lease) = opened
                .map_err(|_| EngineError::Open(format!("no page was available within {} ms", wait.as_millis())))??;
            let session = ChromeSession::begin(tab, &browser, options, seat, lease);
            Ok(Box::new(session) as Box<dyn Session>)
        })
    }
}

impl Inner {
    fn current(&self) -> Option<Arc<Browser>> {
        self.browser.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A tab with the network that a session may have. A browser or tab that fails is tried once more.
    async fn tab(&self, wish: &Wish) -> Result<(Tab, Arc<Browser>, Option<Lease>), EngineError> {
        let mut again = true;
        loop {
            let browser = self.browser().await?;
            let lease = match wish.is_closed() {
                true => None,
                false => Some(self.proxies().await?.lease(wish).map_err(EngineError::Open)?),
            };
            let address = lease.as_ref().map(Lease::address);
            match browser.tab(address.as_deref()).await {
                Ok(tab) => return Ok((tab, browser, lease)),
                Err(_) if again => {
                    again = false;
                    browser.end_if_silent().await;
                }
                Err(error) => return Err(EngineError::Open(format!("a page could not be created: {error}"))),
            }
        }
    }

    /// The living browser, launched if need be.
    async fn browser(&self) -> Result<Arc<Browser>, EngineError> {
        let _one = self.launching.lock().await;
        match self.current() {
            Some(browser) if browser.is_alive() => return Ok(browser),
            Some(dead) => {
                dead.kill();
                let mut all = self.dead.lock().unwrap_or_else(PoisonError::into_inner);
                all.retain(|browser| !browser.is_gone());
                all.push(dead);
            }
            None => {}
        }
        let binary: PathBuf = find_browser(self.options.browser.as_deref())
            .map_err(|error| EngineError::Unavailable(error.to_string()))?;
        let rules = self.proxies().await?.resolver_rules();
        let browser = Browser::start(&binary, &self.options, &rules, self.stop.notified()).await?;
        *self.browser.lock().unwrap_or_else(PoisonError::into_inner) = Some(browser.clone());
        Ok(browser)
    }

    async fn proxies(&self) -> Result<&Arc<Proxies>, EngineError> {
        let made = self.proxies.get_or_try_init(|| async { Proxies::bind(self.options.user()).map(Arc::new) }).await;
        made.map_err(|error| EngineError::Unavailable(format!("the network proxy could not be started: {error}")))
    }

    async fn end(&self) {
        self.stop.notify_waiters();
        let _one = self.launching.lock().await;
        let browser = self.browser.lock().unwrap_or_else(PoisonError::into_inner).take();
        let dead = std::mem::take(&mut *self.dead.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(browser) = &browser {
            browser.kill();
        }
        for browser in dead.into_iter().chain(browser) {
            browser.gone().await;
        }
    }
}
