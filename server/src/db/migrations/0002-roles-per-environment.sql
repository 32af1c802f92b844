-- An operator has either one role in all environments (`operator.role`) or a role in each of these environments.
create table operator_membership (
  operator_id text not null references operator on delete cascade,
  environment_id text not null references environment on delete cascade,
  role text not null check (role in ('owner', 'editor', 'viewer')),
  primary key (operator_id, environment_id)
);
create index operator_membership_environment on operator_membership (environment_id);

alter table operator
  alter column role drop not null,
  drop constraint operator_role_check,
  add constraint operator_role_check check (role in ('owner', 'editor', 'viewer'));

alter table operator_invitation
  alter column role drop not null,
  drop constraint operator_invitation_role_check,
  add constraint operator_invitation_role_check check (role in ('owner', 'editor', 'viewer')),
  -- The operator's future memberships. Empty if `role` is not null.
  add column environments jsonb not null default '[]';
