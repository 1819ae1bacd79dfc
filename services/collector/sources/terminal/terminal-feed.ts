import type { AnswerLine, TerminalHello, TerminalLine } from '../../../core/terminal/lines.ts'
import type { SourcePin } from '../../source.ts'

/** The terminal that a feed accepts: the first one, until a person accepts another. */
export interface TerminalPin {
  /** The result of `terminalIdentity`; `undefined`: no terminal yet. `unknown` until ingest has said it. */
  readonly identity: string | undefined
  /** Pins this terminal, if none is pinned. The next heartbeat tells ingest. */
  offer(identity: string): void
}

/** The first terminal, which ingest learns with the next heartbeat. */
export class FirstTerminal implements TerminalPin, SourcePin {
  identity: TerminalPin['identity'] = 'unknown'

  offer(identity: string): void {
    this.identity ??= identity
  }

  told(identity: string | undefined): void {
    this.identity = identity
  }
}

/** What the endpoint needs of a feed whose terminal posts to it. */
export interface TerminalFeed {
  /** That of the listener of the source; before `open` its identity is `unknown`. */
  readonly pin: TerminalPin
  /**
   * A terminal that may speak began a session. Resolves with the first answer; rejects as `take` does. The endpoint has ended the
   * session that this one replaces.
   */
  begin(session: number, hello: TerminalHello): Promise<readonly AnswerLine[]>
  /**
   * Applies the lines of one post. Resolves once its bars are journaled; rejects with `NotTaken` when nothing of it
   * was taken: the terminal then posts the same again. Called for one post of a session at a time.
   */
  take(session: number, lines: readonly TerminalLine[]): Promise<readonly AnswerLine[]>
  /** The session was replaced, or its terminal has been silent for 30 s. */
  end(session: number): void
}

/** Nothing of the post was taken; the message is a sentence for the journal of the terminal. */
export class NotTaken extends Error {}
