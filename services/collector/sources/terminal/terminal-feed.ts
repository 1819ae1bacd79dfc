import type { AnswerLine, TerminalHello, TerminalLine } from '../../../core/terminal/lines.ts'
import type { TerminalPin } from '../../terminal-pin.ts'

/** What the endpoint needs of a feed whose terminal posts to it. */
export interface TerminalFeed {
  readonly pin: TerminalPin
  /**
   * A terminal that may speak began a session. Resolves with the first answer; rejects as `take` does. The endpoint has ended the
   * session that this one replaces.
   */
  begin(session: number, hello: TerminalHello): Promise<readonly AnswerLine[]>
  /**
   * Applies the lines of one post. Resolves once its bars are spooled; rejects with `NotTaken` when nothing of it
   * was taken: the terminal then posts the same again. Called for one post of a session at a time.
   */
  take(session: number, lines: readonly TerminalLine[]): Promise<readonly AnswerLine[]>
  /** The session was replaced, or its terminal has been silent for 30 s. */
  end(session: number): void
}

/** Nothing of the post was taken; the message is a sentence for the journal of the terminal. */
export class NotTaken extends Error {}
