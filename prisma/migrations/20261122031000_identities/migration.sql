-- The identity vault (src/security/vault): who acts, with which key, and what each was let to do. Key pairs are Ed25519;
-- private keys of roles are sealed (AES-256-GCM) with a key that is not in the database, those of processes are nowhere.

CREATE TABLE identity (
  id         text PRIMARY KEY,
  kind       text NOT NULL CHECK (kind IN ('role', 'process')),
  -- The role, or the process's executor id.
  name       text NOT NULL,
  -- SPKI, base64.
  public_key text NOT NULL,
  -- PKCS #8, sealed; null for a process.
  sealed_key text,
  -- Which vault key sealed it, and that key's word (HMAC-SHA256) for id, kind, name and public key: a row that somebody
  -- else wrote into this table is no identity.
  vault      text NOT NULL,
  mac        text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- From then on another one signs; what this one signed before runs out by itself.
  rotated_at timestamptz,
  -- From then on nothing it signed is good.
  revoked_at timestamptz,
  revoked_by text,
  reason     text
);
CREATE UNIQUE INDEX identity_signing ON identity (vault, kind, name) WHERE rotated_at IS NULL AND revoked_at IS NULL;

-- One row a credential, so that it can be revoked from anywhere and used once where that matters.
CREATE TABLE credential (
  id          text PRIMARY KEY,
  identity_id text NOT NULL REFERENCES identity (id) ON DELETE CASCADE,
  process_id  text NOT NULL REFERENCES identity (id) ON DELETE CASCADE,
  incident_id text NOT NULL,
  minted_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at  timestamptz NOT NULL,
  used_at     timestamptz,
  revoked_at  timestamptz
);
CREATE INDEX credential_expires ON credential (expires_at);
CREATE INDEX credential_identity ON credential (identity_id);
CREATE INDEX credential_process ON credential (process_id);
CREATE INDEX credential_incident ON credential (incident_id);
