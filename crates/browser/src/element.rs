//! Clicking on an element and typing into it: the one that was shown, where it can be seen, or none.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::fault::Fault;
use crate::limits::REACT;
use crate::pages::Page;
use crate::snapshot::Found;
use crate::tree::name;
use crate::watch::text;

/// Why an element was not used.
pub(crate) enum Unused {
    /// It is another than was shown, or is gone.
    Changed,
    /// It cannot be seen, or something lies over it.
    Covered,
    /// Nothing can be typed into it.
    NoField,
    /// It is a field for a secret.
    Secret,
    /// The browser.
    Fault(Fault),
}

impl From<Fault> for Unused {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Is the element what a person would hit at its place? Its label will do as well.
const IS_ON_TOP: &str = "function () {
    this.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const box = this.getClientRects()[0];
    if (!box || box.width === 0 || box.height === 0) return false;
    const x = box.left + box.width / 2, y = box.top + box.height / 2;
    let hit = this.ownerDocument.elementFromPoint(x, y);
    while (hit && hit.shadowRoot) {
        const inner = hit.shadowRoot.elementFromPoint(x, y);
        if (!inner || inner === hit) break;
        hit = inner;
    }
    for (let it = hit; it; it = it.parentNode || it.host) if (it === this) return true;
    const label = hit && hit.closest && hit.closest('label');
    return !!label && label.control === this;
}";

/// Readies a field: what is in it is selected, so that what is typed takes its place.
const READY: &str = "function () {
    const secret = /^(current-password|new-password|one-time-code|cc-number|cc-csc)$/;
    const hints = (this.getAttribute('autocomplete') || '').toLowerCase().split(/\\s+/);
    if (this.type === 'password' || hints.some(it => secret.test(it))) return 'secret';
    if (this.disabled || this.readOnly) return 'closed';
    const line = this instanceof HTMLInputElement;
    const typed = ['text', 'search', 'email', 'url', 'tel', 'number', 'date', 'datetime-local', 'month', 'time', 'week'];
    if (line && !typed.includes(this.type)) return 'closed';
    if (!line && !(this instanceof HTMLTextAreaElement) && !this.isContentEditable) return 'closed';
    this.focus();
    if (this.select) this.select();
    else this.ownerDocument.getSelection().selectAllChildren(this);
    return line ? 'line' : 'text';
}";

impl Browser {
    /// Clicks on the element.
    pub(crate) fn click(&self, page: &Page, found: &Found) -> Result<(), Unused> {
        let object = self.same(found)?;
        let on_top = self.ask(found, &object, IS_ON_TOP)?;
        if on_top != Value::Bool(true) {
            return Err(Unused::Covered);
        }
        let (x, y) = self.middle(page, found)?;
        for (kind, button, buttons) in
            [("mouseMoved", "none", 0), ("mousePressed", "left", 1), ("mouseReleased", "left", 0)]
        {
            let event = json!({
                "type": kind, "x": x, "y": y, "button": button, "buttons": buttons,
                "clickCount": u8::from(kind != "mouseMoved"),
            });
            self.wire.call(&page.session, "Input.dispatchMouseEvent", event)?;
        }
        Ok(())
    }

    /// Types into the element, in place of what is there. A line break at the end of a line is Enter.
    pub(crate) fn fill(&self, page: &Page, found: &Found, typed: &str) -> Result<(), Unused> {
        let object = self.same(found)?;
        let on_top = self.ask(found, &object, IS_ON_TOP)?;
        if on_top != Value::Bool(true) {
            return Err(Unused::Covered);
        }
        let ready = self.ask(found, &object, READY)?;
        let line = match ready.as_str() {
            Some("line") => true,
            Some("text") => false,
            Some("secret") => return Err(Unused::Secret),
            Some(_) | None => return Err(Unused::NoField),
        };
        let (words, enter) = match typed.strip_suffix('\n') {
            Some(words) if line => (words, true),
            Some(_) | None => (typed, false),
        };
        if words.is_empty() {
            self.key(page, "Backspace", "")?;
        } else {
            let params = json!({ "text": words });
            self.wire.call(&page.session, "Input.insertText", params)?;
        }
        if enter {
            self.key(page, "Enter", "\r")?;
        }
        Ok(())
    }

    fn key(&self, page: &Page, key: &str, types: &str) -> Result<(), Fault> {
        let code = if key == "Enter" { 13 } else { 8 };
        for kind in ["keyDown", "keyUp"] {
            let mut event =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            if let Some(fields) = event.as_object_mut().filter(|_| kind == "keyDown") {
                fields.insert("text".to_owned(), types.into());
            }
            self.wire.call(&page.session, "Input.dispatchKeyEvent", event)?;
        }
        Ok(())
    }

    /// The element, if it still is what was shown: what a page shows as one thing it cannot turn into another
    /// before it is clicked on. Answers its name in a world that the page's scripts cannot change.
    fn same(&self, found: &Found) -> Result<String, Unused> {
        let element = &found.element;
        let params = json!({ "backendNodeId": element.node, "fetchRelatives": false });
        let now = match self.wire.call(&found.session, "Accessibility.getPartialAXTree", params) {
            Ok(now) => now,
            Err(Fault::Unable(_)) => return Err(Unused::Changed),
            Err(error) => return Err(error.into()),
        };
        let node = now.pointer("/nodes/0").ok_or(Unused::Changed)?;
        if text(node, "/role/value") != element.role || name(node) != element.name {
            return Err(Unused::Changed);
        }
        let world = self.world(&found.session, &found.frame).map_err(|_| Unused::Changed)?;
        let params = json!({ "backendNodeId": element.node, "executionContextId": world });
        match self.wire.call(&found.session, "DOM.resolveNode", params) {
            Ok(resolved) => Ok(text(&resolved, "/object/objectId").to_owned()),
            Err(Fault::Unable(_)) => Err(Unused::Changed),
            Err(error) => Err(error.into()),
        }
    }

    fn ask(&self, found: &Found, object: &str, function: &str) -> Result<Value, Fault> {
        let params =
            json!({ "objectId": object, "functionDeclaration": function, "returnByValue": true });
        let mut asked = self.wire.call(&found.session, "Runtime.callFunctionOn", params)?;
        Ok(asked.pointer_mut("/result/value").map(Value::take).unwrap_or_default())
    }

    /// The middle of the element as the page's window sees it.
    fn middle(&self, page: &Page, found: &Found) -> Result<(f64, f64), Unused> {
        // The page draws what was scrolled before it is asked where things are.
        std::thread::sleep(REACT / 5);
        let params = json!({ "backendNodeId": found.element.node });
        let quads = self.wire.call(&found.session, "DOM.getContentQuads", params);
        let quads = quads.map_err(|_| Unused::Covered)?;
        let (mut x, mut y) = middle_of(quads.pointer("/quads/0")).ok_or(Unused::Covered)?;
        let mut session = found.session.clone();
        // Frames with processes of their own count from their own corner.
        let frames = self.watch.frames(page);
        while found.inside && session != page.session {
            let frame = frames.iter().find(|it| it.session == session).ok_or(Unused::Changed)?;
            let (left, top) = self.corner(&frame.parent, &frame.target)?;
            (x, y) = (x + left, y + top);
            session.clone_from(&frame.parent);
        }
        Ok((x, y))
    }

    /// Where a frame begins in the page around it.
    fn corner(&self, parent: &str, frame: &str) -> Result<(f64, f64), Unused> {
        let changed = |_| Unused::Changed;
        let owner = self.wire.call(parent, "DOM.getFrameOwner", json!({ "frameId": frame }));
        let owner = owner.map_err(changed)?;
        let params = json!({ "backendNodeId": owner.get("backendNodeId") });
        let model = self.wire.call(parent, "DOM.getBoxModel", params).map_err(changed)?;
        let at = |index: usize| model.pointer(&format!("/model/content/{index}"))?.as_f64();
        at(0).zip(at(1)).ok_or(Unused::Covered)
    }
}

/// The middle of four corners.
fn middle_of(quad: Option<&Value>) -> Option<(f64, f64)> {
    let numbers: Vec<f64> = quad?.as_array()?.iter().filter_map(Value::as_f64).collect();
    if numbers.len() != 8 {
        return None;
    }
    let of = |from: usize| numbers.iter().skip(from).step_by(2).sum::<f64>() / 4.0;
    Some((of(0), of(1)))
}
