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
   * Version of the feed's record on which the change is based; 0: any version.
   */
  'basedOn'?: (number | string | Long);
  /**
   * UID of a deleted object whose feed is taken over.
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
   * Version of the feed's record on which the change is based; 0: any version.
   */
  'basedOn': (number);
  /**
   * UID of a deleted object whose feed is taken over.
   */
  'previousUid': (string);
}
