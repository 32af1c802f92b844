-- Before the first release: no earlier process uses the column.
alter table transcript_revision rename column sitting to edit_session_id;
