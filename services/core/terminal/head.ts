import { show } from '../show.ts'
import { Fields, LineFault } from './fields.ts'
import { terminalProtocol } from './lines.ts'
import { TextLines } from './text-lines.ts'

/** Maximum bars of one post. */
export const postBarsMax = 5_000

/** Why a post is not taken: a code of the protocol, and a sentence for the journal of the terminal. */
export interface PostFault {
  readonly code: 'BAD_POST' | 'OTHER_VERSION' | 'TOO_LARGE'
  readonly sentence: string
}

export interface Head {
  readonly session: number
  readonly sequence: number
}

/** Runs a parser; the `LineFault` that it throws becomes `BAD_POST`. */
export function orFault<T>(parse: () => T | PostFault): T | PostFault {
  try {
    return parse()
  } catch (cause) {
    if (cause instanceof LineFault) return { code: 'BAD_POST', sentence: `${cause.message}.` }
    throw cause
  }
}

/** The first line of a post or an answer. Throws `LineFault`. */
export function readHead(lines: TextLines): Head | PostFault {
  const line = lines.next()
  const [name, version] = line?.fields ?? []
  if (line === undefined || name !== 'fxd')
    throw new LineFault(
      `line 1: begins with ${show(name ?? '')}, wanted: fxd, version ${terminalProtocol}, session, sequence, separated by tabs`,
    )
  if (version !== String(terminalProtocol)) {
    const sentence = `The protocol version is ${show(version)}; this collector speaks ${terminalProtocol}.`
    return { code: 'OTHER_VERSION', sentence }
  }
  const fields = new Fields(line, 'fxd VERSION SESSION SEQUENCE', 2)
  return { session: fields.whole(), sequence: fields.whole() }
}

/** Reads only the first line, however long the text is. */
export const parseHead = (text: string): Head | PostFault => orFault(() => readHead(new TextLines(text)))
export const headOf = ({ session, sequence }: Head): string =>
  `fxd\t${terminalProtocol}\t${session}\t${sequence}\n`
