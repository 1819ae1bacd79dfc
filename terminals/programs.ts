import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type TerminalKind = 'mt4' | 'mt5'

const here = import.meta.dirname
const textOf = (name: string): string => readFileSync(join(here, name), 'utf8')

const place = '//--- bridge.mqh\n'

/** Path of the one file that its owner copies into a terminal. */
export const programPath = (kind: TerminalKind): string => join(here, `FxdBridge.${kind.replace('mt', 'mq')}`)

/** The program of a terminal: the shared source within what differs between the terminals. */
export function joined(kind: TerminalKind): string {
  const [head, events, more] = textOf(`${kind}.mqh`).split(place)
  if (head === undefined || events === undefined || more !== undefined)
    throw new Error(`${kind}.mqh needs the line "${place.trim()}" exactly once`)
  return `// Made by make terminals from ${kind}.mqh and bridge.mqh. Not yet run in a real terminal.\n${head}${textOf('bridge.mqh')}${events}`
}
