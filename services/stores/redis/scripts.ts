import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** A script of `lua/` with the common functions before it. */
export interface Script {
  readonly text: string
  readonly sha: string
}

const read = (name: string): string => readFileSync(new URL(`lua/${name}.lua`, import.meta.url), 'utf8')
const prelude = read('prelude')

function script(name: string): Script {
  const text = `${prelude}\n${read(name)}`
  return { text, sha: hash('sha1', text) }
}

export const scripts = {
  admit: script('admit'),
  addUsage: script('add-usage'),
  readUsage: script('read-usage'),
  meetPods: script('meet-pods'),
  beginLife: script('begin-life'),
  openSlot: script('open-slot'),
  renewSlots: script('renew-slots'),
  closeSlot: script('close-slot'),
  countSlots: script('count-slots'),
  acquireLease: script('acquire-lease'),
  renewLease: script('renew-lease'),
  releaseLease: script('release-lease'),
  noteLiveness: script('note-liveness'),
  publish: script('publish'),
  look: script('look'),
} as const
