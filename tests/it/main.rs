//! The one integration binary: plays chibi, in both protocol generations, against the real
//! executable. One module per topic.

// A test that cannot go on may panic.
#![allow(clippy::unwrap_used)]
// What was skipped, and why, is told where the test runner shows it.
#![allow(clippy::print_stdout)]
// A test makes what it needs as it likes.
#![allow(clippy::disallowed_methods)]

mod added_entries;
mod agents;
mod always_on;
mod answered;
mod archives;
mod arguments;
mod audit;
mod audit_log;
mod author;
mod below_agents;
mod bills;
mod choosing;
mod closed;
mod concurrency;
mod configuration;
mod confine;
mod connections;
mod consenting;
mod context_limits;
mod conversation_failures;
mod conversations;
mod corpus;
mod damaged_record;
mod deciding;
mod deciding_files;
mod decisions;
mod doctor;
mod door;
mod eligibility;
mod engine_page;
mod fail_closed;
mod fail_closed_signals;
mod fail_closed_tools;
mod first_minutes;
mod git_arguments;
mod gits;
#[cfg(target_os = "linux")]
mod growth;
mod honest_commands;
mod hooks;
mod host;
mod host_process;
mod hostile;
mod hostile_project;
mod hosts;
mod idle;
mod index;
mod installed_names;
mod installing;
mod installing_for;
mod invoked_arguments;
mod invoking;
mod jobs;
mod keys;
mod layers;
mod looking;
mod loopback;
mod many;
mod many_called;
mod market;
mod market_consent;
mod market_full_disk;
mod market_hostile;
mod market_http;
mod market_kills;
mod market_lock;
mod market_origins;
mod market_sources;
mod market_updates;
mod narrow;
mod one_argument;
mod one_verdict;
mod options;
mod parsing;
mod parsing_reports;
mod permission_fuzz;
mod permission_steps;
mod policy;
mod policy_explain;
mod policy_files;
mod policy_sources;
mod policy_ways;
mod proposal_decisions;
mod proposals;
mod reading;
mod reading_paths;
mod readme;
mod registry_engines;
mod registry_forms;
mod registry_hostile;
mod registry_lists;
mod registry_pull;
mod registry_push;
mod registry_stub;
mod repairing;
mod repository;
mod required_attacks;
mod required_skills;
mod requires;
mod restricting_keys;
mod restriction;
#[cfg(target_os = "linux")]
mod sandbox;
mod scripts;
mod scripts_basic;
mod server;
mod session_answers;
mod session_restrictions;
mod sessions;
mod sharing;
mod shell_effects;
mod shell_generator;
#[rustfmt::skip]
#[path = "../../crates/skill-permission/tests/shell_grammar/mod.rs"]
mod shell_grammar;
mod shell_log;
mod shell_profiles;
mod shell_tables;
mod shell_world;
mod shown;
mod signatures;
mod signed_again;
mod signed_packages;
mod signed_required;
mod simulate;
mod skill_hook_ends;
mod skill_hooks;
mod suggest;
mod summary;
mod switching;
mod syncing;
mod syncing_kills;
mod synonyms;
mod terminal;
mod transcript_world;
mod transcripts;
mod trust;
mod trust_names;
mod trust_ways;
mod unreadable;
mod validate;
mod versions;
mod visibility;
mod ways_out;
mod withheld;
mod words;

use host::Host;
