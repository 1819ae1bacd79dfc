// Writes the list of users for Redis. Digests of the passwords replace <role>; during a rotation the previous passwords
// are included. A password in a URL is percent-encoded.
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'

const digest = (password: string): string =>
  `#${createHash('sha256').update(decodeURIComponent(password.trim())).digest('hex')}`

const passwordsOf = (role: string): readonly string[] =>
  ['PASSWORD', 'PREVIOUS_PASSWORD'].flatMap((name) => process.env[`${name}_${role.toUpperCase()}`] || [])

const users = readFileSync('/etc/redis/users.acl', 'utf8').replaceAll(/><(\w+)>/g, (_, role: string) =>
  passwordsOf(role).map(digest).join(' '),
)
// Kubernetes may run this again in the same pod. Then the volume still has the read-only file of the first run.
rmSync('/users/users.acl', { force: true })
writeFileSync('/users/users.acl', users, { mode: 0o400 })
