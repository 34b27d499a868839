//! Skills.

use crate::ipc::declare::object;
use crate::ipc::limits::{REASON_UNITS_MAX, SKILL_NAME_UNITS_MAX, SKILL_UNITS_MAX};
use crate::ipc::text::Text;

object! {
    /// Propose a skill, new or changed.
    SkillPropose {
        /// Its name.
        "skill" skill: Text<SKILL_NAME_UNITS_MAX>,
        /// Its text.
        "content" content: Text<SKILL_UNITS_MAX>,
        /// Why.
        "reason" reason: Option<Text<REASON_UNITS_MAX>>,
    }
}

object! {
    /// Read a skill.
    SkillRead {
        /// Its name.
        "name" name: Text<SKILL_NAME_UNITS_MAX>,
    }
}

object! {
    /// List the skills.
    SkillList {}
}
