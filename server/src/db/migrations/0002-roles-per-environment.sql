-- Operators have one role in all environments, or, if `operator.role` is null, a role in each environment here.
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
  -- What the operator's memberships will be; empty if `role` is not null.
  add column environments jsonb not null default '[]';
