-- Which videos are still to be selected for the operation; null when all of them are in `bulk_operation_item`.
alter table bulk_operation add column selection jsonb;
