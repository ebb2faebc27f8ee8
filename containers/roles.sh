#!/bin/sh
# Run once by the image of PostgreSQL, as the superuser, when its folder is empty: the two roles.
set -eu
psql --set=ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  --set=owner="$OWNER_PASSWORD" --set=app="$APP_PASSWORD" <<'SQL'
CREATE ROLE memoranda_owner LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD :'owner';
CREATE ROLE memoranda_app LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD :'app';
CREATE SCHEMA memoranda AUTHORIZATION memoranda_owner;
SQL
