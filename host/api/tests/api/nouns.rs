//! What each noun looks like on the wire, from an apply to the list.

use axum::http::header;
use model::access::Role;
use serde_json::json;

use crate::server::Server;

#[tokio::test]
async fn what_was_applied_is_read_back() {
    let server = Server::start().await;
    let documents = json!({"documents": [
        {"type": "Policy", "name": "p", "selector": "environment.name == 'prod'", "priority": 5, "rules": []},
        {"type": "Deployment", "name": "site", "systems": ["websites"], "resourceSelector": "resource.kind == 'Folder'",
         "jobAgent": "copier", "jobAgentConfig": {"a": {"b": 1}}, "jobDeadlineSeconds": 600, "description": "d",
         "metadata": {"team": "web"}},
        {"type": "JobAgent", "name": "copier", "agentType": "pull", "config": {"dir": "/srv"}, "leaseSeconds": 20},
        {"type": "Environment", "name": "prod", "systems": ["websites"], "resourceSelector": "resource.metadata.env == 'prod'"},
        {"type": "Resource", "identifier": "eu/1", "name": "Europe", "kind": "Folder", "version": "v2",
         "metadata": {"env": "prod"}, "config": {"port": 8081}},
        {"type": "System", "name": "websites"},
    ]});
    let dry = json!({"documents": documents["documents"], "dryRun": true});
    let answer = server.send(Role::Admin, "POST", "./apply", Some(dry)).await.expect(200);
    assert_eq!(answer.body["dryRun"], true);
    assert_eq!(server.get("./systems").await.body["total"], 0, "a dry run changes nothing");

    let answer = server.send(Role::Admin, "POST", "./apply", Some(documents.clone())).await.expect(200);
    assert_eq!(answer.body["results"][1], json!({"type": "Deployment", "name": "site", "change": "created"}));
    let again = server.send(Role::Admin, "POST", "./apply", Some(documents)).await.expect(200);
    assert!(again.body["results"].as_array().expect("results").iter().all(|one| one["change"] == "unchanged"));

    let deployment = server.get("./deployments/name/site").await.expect(200);
    let agent = server.get("./job-agents/name/copier").await.expect(200).text("/id");
    let system = server.get("./systems/name/websites").await.expect(200).text("/id");
    let expected = json!({
        "id": deployment.body["id"], "name": "site", "description": "d", "systemIds": [system],
        "resourceSelector": "resource.kind == 'Folder'", "jobAgentId": agent, "jobAgentConfig": {"a": {"b": 1}},
        "jobDeadlineSeconds": 600, "metadata": {"team": "web"}, "createdAt": "2026-03-02T08:00:00.000Z",
    });
    assert_eq!(deployment.body, expected);
    let resource = server.get("./resources/identifier/eu%2F1").await.expect(200);
    let expected = json!({
        "id": resource.body["id"], "identifier": "eu/1", "name": "Europe", "kind": "Folder", "version": "v2",
        "metadata": {"env": "prod"}, "config": {"port": 8081}, "createdAt": "2026-03-02T08:00:00.000Z",
    });
    assert_eq!(resource.body, expected);
    let agent = server.get("./job-agents").await.expect(200);
    assert_eq!(agent.body["items"][0]["leaseSeconds"], 20);
    assert_eq!(agent.body["items"][0]["agentType"], "pull");
    let policy = server.get("./policies/name/p").await.expect(200);
    assert_eq!((&policy.body["priority"], &policy.body["rules"]), (&json!(5), &json!([])));
}

#[tokio::test]
async fn by_id_and_by_name_are_the_same_thing_with_the_same_tag() {
    let server = Server::start().await;
    server.seed().await;
    for (list, name) in [
        ("systems", "name/websites"),
        ("environments", "name/prod"),
        ("resources", "identifier/eu%2F1"),
        ("deployments", "name/site"),
        ("job-agents", "name/copier"),
    ] {
        let page = server.get(&format!("./{list}")).await.expect(200);
        assert_eq!(
            (&page.body["total"], &page.body["limit"], &page.body["offset"]),
            (&json!(1), &json!(100), &json!(0))
        );
        let by_name = server.get(&format!("./{list}/{name}")).await.expect(200);
        let by_id = server.get(&format!("./{list}/{}", by_name.text("/id"))).await.expect(200);
        assert_eq!(page.body["items"][0], by_id.body);
        assert_eq!(by_id.body, by_name.body);
        assert_eq!(by_id.headers[header::ETAG], by_name.headers[header::ETAG], "{list}");
    }
}

#[tokio::test]
async fn lists_have_pages() {
    let server = Server::start().await;
    let documents: Vec<_> = (0..5).map(|index| json!({"type": "System", "name": format!("s{index}")})).collect();
    server.send(Role::Admin, "POST", "./apply", Some(json!({"documents": documents}))).await.expect(200);
    let page = server.get("./systems?limit=2&offset=3").await.expect(200);
    let names: Vec<_> = page.body["items"].as_array().expect("items").iter().map(|one| one["name"].clone()).collect();
    assert_eq!((names, &page.body["total"]), (vec![json!("s3"), json!("s4")], &json!(5)));
    assert_eq!(server.get("./systems?offset=4294967295").await.expect(200).body["items"], json!([]));
    assert_eq!(server.get("/api/v1/workspaces").await.expect(200).body["items"][0]["slug"], "default");
    assert_eq!(server.get("/api/v1/workspaces?offset=1").await.expect(200).body["items"], json!([]));
}

#[tokio::test]
async fn a_version_goes_through_its_life() {
    let server = Server::start().await;
    let seeded = server.seed().await;
    let path = format!("./deployments/{}/versions", seeded.deployment);
    let body = json!({"tag": "v1", "name": "One", "config": {"image": "a"}, "metadata": {"commit": "5c1"},
                      "status": "building", "createdAt": "2026-03-02T09:00:00+02:00"});
    let version = server.send(Role::Developer, "POST", &path, Some(body)).await.expect(201);
    let id = version.text("/id");
    let expected = json!({
        "id": id, "deploymentId": seeded.deployment, "tag": "v1", "name": "One", "config": {"image": "a"},
        "jobAgentConfig": {}, "metadata": {"commit": "5c1"}, "status": "building",
        "createdAt": "2026-03-02T07:00:00.000Z", "receivedAt": "2026-03-02T08:00:00.000Z", "createdBy": "developer-user",
    });
    assert_eq!(version.body, expected);
    let patch = json!({"status": "ready"});
    let one = format!("./deploymentversions/{id}");
    let patched = server.send(Role::Developer, "PATCH", &one, Some(patch)).await.expect(200);
    assert_eq!(patched.body["status"], "ready");
    assert_eq!(server.get(&one).await.expect(200).body, patched.body);
    assert_eq!(server.get(&path).await.expect(200).body["items"][0], patched.body);
}

#[tokio::test]
async fn an_approval_is_one_word_of_one_person() {
    let server = Server::start().await;
    let seeded = server.seed().await;
    let version = server.release(&seeded, "v1").await;
    let path = format!("./deployment-versions/{version}/user-approval-records");
    let say =
        |status: &str| json!({"environmentIds": [seeded.environment], "status": status, "reason": "looked at it"});
    let first = server.send(Role::Approver, "PUT", &path, Some(say("approved"))).await.expect(200);
    let expected = json!({
        "id": first.body["items"][0]["id"], "versionId": version, "environmentId": seeded.environment,
        "user": "approver-user", "status": "approved", "reason": "looked at it", "at": "2026-03-02T08:00:01.000Z",
    });
    assert_eq!(first.body["items"], json!([expected]));
    server.send(Role::Approver, "PUT", &path, Some(say("rejected"))).await.expect(200);
    let records = server.get(&path).await.expect(200).body;
    assert_eq!(records["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(records["items"][0]["status"], "rejected");
}

#[tokio::test]
async fn a_release_its_job_and_its_target_tell_one_story() {
    let server = Server::start().await;
    let seeded = server.seed().await;
    let version = server.release(&seeded, "v1").await;
    let targets = server.get(&format!("./release-targets?deploymentId={}", seeded.deployment)).await.expect(200);
    let target = &targets.body["items"][0];
    assert_eq!(target["key"], seeded.target());
    assert_eq!(target["resource"], json!({"id": seeded.resource, "identifier": "eu/1", "name": "eu/1"}));
    assert_eq!((&target["attached"], &target["currentVersion"]), (&json!(true), &json!(null)));
    assert_eq!(target["desiredVersion"], json!({"id": version, "tag": "v1"}));
    assert_eq!((&target["latestJob"]["status"], &target["latestJob"]["versionTag"]), (&json!("queued"), &json!("v1")));

    let state = server.get(&format!("./release-targets/{}/state", seeded.target())).await.expect(200).body;
    assert_eq!((&state["desiredRelease"]["version"]["tag"], &state["currentRelease"]), (&json!("v1"), &json!(null)));
    let job = server.get(&format!("./jobs/{}", state["latestJob"]["id"].as_str().expect("an id"))).await.expect(200);
    assert_eq!(job.body, state["latestJob"]);
    assert_eq!(job.body["environment"], json!({"id": seeded.environment, "name": "prod"}));
    assert_eq!(
        (&job.body["attempt"], &job.body["lease"], &job.body["kind"]),
        (&json!(1), &json!(null), &json!("deploy"))
    );
    for secret in ["config", "context", "dispatchContext", "leaseToken"] {
        assert!(job.body[secret].is_null(), "{secret} is for the agent alone");
    }
    let release = job.text("/releaseId");
    let release = server.get(&format!("./releases/{release}")).await.expect(200);
    assert_eq!((&release.body["targetKey"], &release.body["closed"]), (&json!(seeded.target()), &json!(null)));
    for filter in [
        format!("releases?versionId={version}"),
        format!("releases?targetKey={}", seeded.target()),
        format!("jobs?status=queued&agentId={}", seeded.agent),
        format!("jobs?targetKey={}&deploymentId={}", seeded.target(), seeded.deployment),
    ] {
        assert_eq!(server.get(&format!("./{filter}")).await.expect(200).body["total"], 1, "{filter}");
    }
    assert_eq!(server.get("./jobs?status=completed").await.expect(200).body["total"], 0);

    let explained = server.get(&format!("./release-targets/{}/explain", seeded.target())).await.expect(200).body;
    assert_eq!((&explained["standing"], &explained["desired"]["tag"]), (&json!("deploying"), &json!("v1")));
    assert!(explained["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
    assert_eq!(explained["candidates"][0]["version"], json!({"id": version, "tag": "v1"}));
    let decisions = server.get(&format!("./release-targets/{}/decisions", seeded.target())).await.expect(200);
    assert_eq!(decisions.body["total"], 0, "no policy, no decision");
}
