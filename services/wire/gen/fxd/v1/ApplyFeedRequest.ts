// Original file: proto/fxd/v1/registry.proto

import type { Long } from '@grpc/proto-loader';

export interface ApplyFeedRequest {
  /**
   * The Feed manifest as JSON.
   */
  'manifestJson'?: (string);
  /**
   * UID of the object that owns the feed; never empty.
   */
  'uid'?: (string);
  /**
   * Version of the feed's record that the change is based on; 0 names none.
   */
  'basedOn'?: (number | string | Long);
  /**
   * UID of an object that is gone; what it owned is taken over.
   */
  'previousUid'?: (string);
}

export interface ApplyFeedRequest__Output {
  /**
   * The Feed manifest as JSON.
   */
  'manifestJson': (string);
  /**
   * UID of the object that owns the feed; never empty.
   */
  'uid': (string);
  /**
   * Version of the feed's record that the change is based on; 0 names none.
   */
  'basedOn': (number);
  /**
   * UID of an object that is gone; what it owned is taken over.
   */
  'previousUid': (string);
}
