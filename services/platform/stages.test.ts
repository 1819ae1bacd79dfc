import { expect, onTestFinished, test } from 'vitest'
import { channelOf, markStage, type Stage } from './stages.ts'

test('a subscriber receives only its own stage, until it unsubscribes', () => {
  const heard: unknown[] = []
  const listen = (stage: unknown): void => void heard.push(stage)
  const subscribed = channelOf('checked')
  subscribed.subscribe(listen)
  onTestFinished(() => {
    subscribed.unsubscribe(listen)
  })
  const all: Stage[] = ['received', 'checked', 'published']
  all.forEach(markStage)
  subscribed.unsubscribe(listen)
  all.forEach(markStage)
  expect(heard).toEqual(['checked'])
})
