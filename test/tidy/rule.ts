import { describe, expect, test } from 'vitest'
import type { TextFile } from './tree.ts'

export interface TidyRule {
  /** Complaints, each naming the file and the cure. */
  readonly check: (files: readonly TextFile[]) => string[]
  readonly on: readonly TextFile[]
  /** Fewer files than this means that the rule looked in the wrong place. */
  readonly atLeast: number
  /** Files that break the rule, each with words that its complaint must hold. */
  readonly planted: readonly (TextFile & { complaint: string })[]
  /** Files that look like it and do not. */
  readonly fine?: readonly TextFile[]
}

/** A rule proves three things: it looks at the tree, it notices a planted violation, the tree keeps it. */
export function tidyRule(sentence: string, { check, on, atLeast, planted, fine = [] }: TidyRule): void {
  describe(sentence, () => {
    test('looks at the tree', () => {
      expect(on.length).toBeGreaterThanOrEqual(atLeast)
    })

    test.for(planted)('notices $complaint in $path', ({ complaint, path, text }) => {
      const complaints = check([{ path, text }])
      expect(complaints, text).toEqual([expect.stringContaining(complaint)])
      expect(complaints[0]).toContain(path)
    })

    test('says nothing about what is fine', () => {
      expect(check(fine)).toEqual([])
    })

    test('holds', () => {
      expect(check(on)).toEqual([])
    })
  })
}
