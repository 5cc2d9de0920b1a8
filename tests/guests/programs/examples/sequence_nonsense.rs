//! Sequences that break the interface's rules; which one is in the rule.

use guest_programs::Config;
use tidegate_policy::{
    FactKinds, Policy, Scope, Sequence,
    sequence::{Request, Step},
};

pub struct Guest;

impl Policy for Guest {
    type Config = Config;
    const NAME: &'static str = "sequence_nonsense";
    const SUMMARY: &'static str = "A test of the host.";
    const SCOPE: Scope = Scope::Environment;
    const FACTS: FactKinds = FactKinds::empty();
}

impl Sequence for Guest {
    fn plan(config: &Config, request: &Request) -> Result<Vec<Step>, String> {
        let mut steps: Vec<Step> = request.ready.iter().map(|ready| Step::Start(ready.id.clone())).collect();
        match config.what.as_str() {
            "forgets" => drop(steps.pop()),
            "twice" => steps.extend(steps.clone()),
            "stranger" => steps.push(Step::Hold(("018f0000-0000-7000-8000-000000000000".into(), "who?".into()))),
            "no_id" => steps.push(Step::Start("the best one".into())),
            "cancels_stranger" => {
                steps.push(Step::Cancel(("018f0000-0000-7000-8000-000000000000".into(), "no".into())))
            }
            _ => {}
        }
        Ok(steps)
    }
}

tidegate_policy::export!(sequence: Guest);
