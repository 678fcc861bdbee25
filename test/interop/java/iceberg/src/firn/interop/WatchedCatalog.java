package firn.interop;

import org.apache.iceberg.TableOperations;
import org.apache.iceberg.aws.dynamodb.DynamoDbCatalog;
import org.apache.iceberg.catalog.TableIdentifier;

/** DynamoDbCatalog as it is, whose tables count how often they tried to commit. */
final class WatchedCatalog extends DynamoDbCatalog {
  @Override
  protected TableOperations newTableOps(TableIdentifier identifier) {
    return new WatchedOperations(super.newTableOps(identifier));
  }
}
