// Writes the list of users for Redis: digests of the passwords stand in place of <role>, and of the previous ones while
// they are rotated. A password in a URL is percent-encoded.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

const digest = (password) => `#${createHash('sha256').update(decodeURIComponent(password.trim())).digest('hex')}`

const users = readFileSync('/etc/redis/users.acl', 'utf8').replace(/><(\w+)>/g, (_, role) => {
  const of = (name) => process.env[`${name}_${role.toUpperCase()}`]
  const previous = of('PREVIOUS_PASSWORD')
  return [of('PASSWORD'), ...(previous ? [previous] : [])].map(digest).join(' ')
})
writeFileSync('/users/users.acl', users, { mode: 0o400 })
