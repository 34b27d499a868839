//! What one agent may reach of the public network.

use scan::net::{self, Domains, Refused, Target};

/// Ports at which something else than the web listens: the list of the Fetch standard, which browsers keep.
#[rustfmt::skip]
const NOT_THE_WEB: &[u16] = &[
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513,
    514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720,
    1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// What one agent may reach. By default all of the public web but for who serves to carry data off.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// What stands on every one of these lists and nothing else; all if there is none.
    pub allow: Vec<Domains>,
    /// Not these, whatever is allowed.
    pub block: Domains,
    /// These ports and no others; the web's if nothing is said.
    pub ports: Option<Vec<u16>>,
}

impl Rules {
    /// May it be asked for?
    ///
    /// # Errors
    /// The rule that refuses it.
    pub fn check(&self, target: &Target) -> Result<(), Refused> {
        let (host, port) = (target.host(), target.port());
        net::blocked(host)?;
        if self.block.contains(host) {
            let reason = format!("`{host}` is blocked");
            return Err(Refused { rule: "egress-blocked", reason });
        }
        self.allow.iter().try_for_each(|it| it.permits(target))?;
        let open = match &self.ports {
            Some(ports) => ports.contains(&port),
            None => !NOT_THE_WEB.contains(&port),
        };
        if !open {
            let reason = format!("port {port} is not one of the web");
            return Err(Refused { rule: "egress-port", reason });
        }
        Ok(())
    }
}
