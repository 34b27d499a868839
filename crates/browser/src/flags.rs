//! How Chromium is started: each flag closes one way around us, or stops it from doing what nobody asked for.

use std::net::SocketAddr;
use std::path::Path;

/// Flags that are the same for all.
const ALWAYS: &[&str] = &[
    "--headless",
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    // Driven by what it inherits: no port is opened that others could reach.
    "--remote-debugging-pipe",
    // Its own sandbox by namespaces alone: the other way needs a program that becomes root.
    "--disable-setuid-sandbox",
    // Everything goes through the proxy, also what is meant for this machine.
    "--proxy-bypass-list=<-loopback>",
    // What would not: datagrams of calls, QUIC, a resolver of its own.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--dns-over-https-mode=off",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-features=AsyncDns,DnsOverHttps,AutofillServerCommunication,NetworkTimeServiceQuerying,\
     OptimizationHints,OptimizationHintsFetching,OptimizationGuideModelDownloading,MediaRouter,\
     DialMediaRouteProvider,CastMediaRouteProvider,Translate,InterestFeedContentSuggestions,\
     CertificateTransparencyComponentUpdater,SegmentationPlatform,WebUIOmniboxPopup,\
     WebUIOmniboxAimPopup,Prerender2,SpeculationRulesPrefetchProxy,PreconnectToSearch,\
     LoadingPredictorPrefetch,PrivateNetworkAccessPermissionPrompt,WebOTP,WebBluetooth,WebUsb,\
     GlobalMediaControls,HardwareMediaKeyHandling,HttpsFirstModeIncognito,HttpsFirstBalancedModeAutoEnable,FileSystemAccessAPI,PushMessaging",
    "--disable-blink-features=WebTransport,DirectSockets,Serial,WebHID,WebUSB,WebBluetooth,PaymentRequest",
    // What it does of itself.
    "--disable-background-networking",
    "--disable-component-update",
    "--component-updater=url-source=http://update.invalid/",
    "--gaia-url=http://accounts.invalid",
    "--google-apis-url=http://apis.invalid",
    "--allow-browser-signin=false",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-component-extensions-with-background-pages",
    "--disable-client-side-phishing-detection",
    "--disable-domain-reliability",
    "--disable-field-trial-config",
    "--disable-search-engine-choice-screen",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--metrics-recording-only",
    "--no-pings",
    "--no-service-autorun",
    "--safebrowsing-disable-auto-update",
    // What a page could ask a person for.
    "--deny-permission-prompts",
    "--disable-notifications",
    "--disable-print-preview",
    "--disable-external-intent-requests",
    "--disable-file-system",
    "--noerrdialogs",
    "--mute-audio",
    // No keys of the system's, no screen, no big shared memory.
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-speech-api",
    "--hide-scrollbars",
    "--lang=en-US",
    "--renderer-process-limit=8",
    "--disk-cache-size=33554432",
    "--js-flags=--max-old-space-size=1024",
];

/// All flags for a browser with this profile and proxy.
pub(crate) fn flags(profile: &Path, proxy: SocketAddr) -> Vec<String> {
    let mut all: Vec<String> = ALWAYS.iter().map(|it| (*it).to_owned()).collect();
    all.push(format!("--user-data-dir={}", profile.display()));
    all.push(format!("--proxy-server=http://{proxy}"));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_weakens_it() {
        let all = flags(Path::new("/p"), "127.0.0.1:1".parse().unwrap());
        for weak in [
            "--no-sandbox",
            "--disable-web-security",
            "--ignore-certificate-errors",
            "--remote-debugging-port",
            "--remote-allow-origins",
            "--allow-running-insecure-content",
            "--disable-site-isolation-trials",
            "--single-process",
            "--disable-popup-blocking",
        ] {
            assert!(!all.iter().any(|it| it.starts_with(weak)), "{weak}");
        }
        assert!(all.iter().all(|it| it.starts_with("--") && !it.contains('\n')));
        let names: std::collections::HashSet<_> =
            all.iter().map(|it| it.split('=').next().unwrap()).collect();
        // Of a flag that is given twice only the last counts.
        assert_eq!(names.len(), all.len());
    }
}
