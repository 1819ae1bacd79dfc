import { describe, expect, test } from 'vitest'
import type { TextFile } from './tree.ts'

export interface TidyRule {
  /** Complaints. Each names the file and the cure. */
  readonly check: (files: readonly TextFile[]) => string[]
  readonly on: readonly TextFile[]
  /** Minimum number of files; with fewer, the rule looked in the wrong place. */
  readonly atLeast: number
  /** Files that break the rule, alone or together with those `beside` them, and words of the complaint. */
  readonly planted: readonly (TextFile & { complaint: string; beside?: readonly TextFile[] })[]
  /** Files that look like violations and are none. */
  readonly fine?: readonly TextFile[]
}

/** A rule proves three things: it sees the tree, it finds planted violations, and the tree complies. */
export function tidyRule(sentence: string, { check, on, atLeast, planted, fine = [] }: TidyRule): void {
  describe(sentence, () => {
    test('sees the tree', () => {
      expect(on.length).toBeGreaterThanOrEqual(atLeast)
    })

    test.for(planted)(
      'finds a planted violation: $path $complaint',
      ({ complaint, path, text, beside = [] }) => {
        const complaints = check([{ path, text }, ...beside])
        expect(complaints, text).toEqual([expect.stringContaining(complaint)])
        expect(complaints[0]).toContain(path)
      },
    )

    test('accepts files that comply', () => {
      expect(check(fine)).toEqual([])
    })

    test('the tree complies', () => {
      expect(check(on)).toEqual([])
    })
  })
}
