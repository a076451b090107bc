"""Files: tables people bring, report files, packed reports, strict JSON, writing without loss."""
