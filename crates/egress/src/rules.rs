//! What one agent may reach of the public network.

use hyper::Method;
use policy::access::Glob;
use scan::net::{self, Domains, Inner, Refused, Rule, Suspicion, Target};

/// Ports at which something else than the web listens: the list of the Fetch standard, which browsers keep.
#[rustfmt::skip]
const NOT_THE_WEB: &[u16] = &[
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513,
    514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720,
    1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// Where a tunnel may lead if nothing is said: nobody sees what goes through it.
const OF_TUNNELS: &[u16] = &[443, 8443];
/// The body of a request, if nothing else is said, in bytes.
pub const PAYLOAD_BYTES_MAX: u64 = 256 << 20;

/// What becomes of an address that looks as if it carried data off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signs {
    /// The gate has judged it by what the session has read.
    #[default]
    Judged,
    /// It is refused unless its host is on a list of what is allowed: who asks is a program, nobody has seen what it read,
    /// and there is nobody to be asked.
    Refused,
}

/// What one agent may reach. By default all of the public web but for who serves to carry data off.
#[derive(Clone, Debug)]
pub struct Rules {
    /// What stands on every one of these lists and nothing else; all if there is none.
    pub allow: Vec<Domains>,
    /// Not these, whatever is allowed.
    pub block: Domains,
    /// These ports and no others. If nothing is said: the web's, and for tunnels 443 and 8443.
    pub ports: Option<Vec<u16>>,
    /// These methods and no others; all if nothing is said. In a tunnel nobody sees them, so it is open only if
    /// `CONNECT` is among them.
    pub methods: Option<Vec<Method>>,
    /// The body of a request, in bytes. Of tunnels it is not known where a request ends.
    pub payload_bytes_max: u64,
    /// What becomes of an address that looks as if it carried data off.
    pub signs: Signs,
    /// Hosts of the inner network that the operator has opened, each at its own port. All the other rules hold for them, too.
    pub inner: Inner,
    /// What an address that carries data off looks like, beside what is known of it.
    pub flags: Vec<Glob>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            block: Domains::default(),
            ports: None,
            methods: None,
            payload_bytes_max: PAYLOAD_BYTES_MAX,
            signs: Signs::Judged,
            inner: Inner::default(),
            flags: Vec::new(),
        }
    }
}

impl Rules {
    /// May it be asked for?
    ///
    /// # Errors
    /// The rule that refuses it.
    pub fn check(&self, target: &Target) -> Result<(), Refused> {
        self.check_host(target)?;
        self.check_port(target, |port| !NOT_THE_WEB.contains(&port), "is not one of the web")
    }

    /// Is it a host of the inner network that the operator has opened, at its port?
    #[must_use]
    pub fn opens(&self, target: &Target) -> bool {
        self.inner.opens(target.host(), target.port())
    }

    /// May there be a tunnel to it?
    ///
    /// # Errors
    /// The rule that refuses it.
    pub(crate) fn check_tunnel(&self, target: &Target) -> Result<(), Refused> {
        self.check_method(&Method::CONNECT)?;
        self.check_host(target)?;
        self.check_port(target, |port| OF_TUNNELS.contains(&port), "is not one for tunnels")
    }

    /// May it be asked in this way?
    pub(crate) fn check_method(&self, method: &Method) -> Result<(), Refused> {
        if self.methods.as_ref().is_none_or(|it| it.contains(method)) {
            return Ok(());
        }
        let reason = format!("the method `{method}` is not among those that are allowed");
        Err(Refused { rule: Rule::EgressMethod, reason })
    }

    /// May so much be sent?
    pub(crate) fn check_payload(&self, bytes: u64) -> Result<(), Refused> {
        if bytes > self.payload_bytes_max { Err(too_much(self.payload_bytes_max)) } else { Ok(()) }
    }

    fn check_host(&self, target: &Target) -> Result<(), Refused> {
        let host = target.host();
        net::blocked(host)?;
        if self.block.contains(host) {
            let reason = format!("`{host}` is blocked");
            return Err(Refused { rule: Rule::EgressBlocked, reason });
        }
        self.allow.iter().try_for_each(|it| it.permits(target))?;
        self.check_signs(target)
    }

    fn check_signs(&self, target: &Target) -> Result<(), Refused> {
        match self.signs {
            Signs::Judged => Ok(()),
            // It stands on all of them.
            Signs::Refused if !self.allow.is_empty() => Ok(()),
            Signs::Refused => match self.suspicion(target) {
                None => Ok(()),
                Some(Suspicion { rule, reason }) => {
                    let how = "only a host that is listed under `allowedDomains` is reached so";
                    Err(Refused { rule, reason: format!("{reason}; {how}") })
                }
            },
        }
    }

    /// The first sign that the address carries data off.
    fn suspicion(&self, target: &Target) -> Option<Suspicion> {
        let flagged = policy::access::flagged(&self.flags, target);
        flagged.or_else(|| net::exfiltration(target).into_iter().next())
    }

    fn check_port(
        &self,
        target: &Target,
        by_default: impl Fn(u16) -> bool,
        why: &str,
    ) -> Result<(), Refused> {
        let port = target.port();
        let open = match &self.ports {
            // Who opened the host named its port.
            _ if self.opens(target) => true,
            Some(ports) => ports.contains(&port),
            None => by_default(port),
        };
        if open {
            return Ok(());
        }
        Err(Refused { rule: Rule::EgressPort, reason: format!("port {port} {why}") })
    }
}

/// A body is longer than it may be.
pub(crate) fn too_much(bytes_max: u64) -> Refused {
    let reason = format!("a request carries at most {bytes_max} bytes");
    Refused { rule: Rule::EgressPayload, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARRIES: &[(&str, Rule)] = &[
        ("https://abc123.ngrok.io/", Rule::ExfilTunnel),
        ("https://x-y-z.trycloudflare.com/", Rule::ExfilTunnel),
        ("https://nb2hi4dthixs6ylbmfqwcylbmfqwcylbmfqwcylb.a.example/", Rule::ExfilDns),
        ("http://hooks.slack.com/services/T0/B0/x", Rule::ExfilHost),
        (
            "http://a.example/?d=QUtJQUlPU0ZPRE5ON0VYQU1QTEVBS0lBSU9TRk9ETk43RVhBTVBMRQ",
            Rule::ExfilQuery,
        ),
    ];

    #[test]
    fn signs_refuse_a_program_unless_the_host_is_listed() {
        let of_programs = Rules { signs: Signs::Refused, ..Rules::default() };
        for (url, rule) in CARRIES {
            let target = Target::parse(url).unwrap();
            assert_eq!(of_programs.check(&target).unwrap_err().rule, *rule, "{url}");
            assert!(Rules::default().check(&target).is_ok(), "the gate has judged it: {url}");
            let host = format!("{}://{}", target.scheme().as_str(), target.host());
            let allow = vec![Domains::parse(&[host]).unwrap()];
            let listed = Rules { allow, ..of_programs.clone() };
            assert!(listed.check(&target).is_ok(), "{url}");
        }
        let tunnel = Target::parse(CARRIES[0].0).unwrap();
        assert_eq!(of_programs.check_tunnel(&tunnel).unwrap_err().rule, Rule::ExfilTunnel);
    }
}
