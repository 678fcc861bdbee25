package firn.interop;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import org.apache.iceberg.aws.AwsClientFactories;
import org.apache.iceberg.aws.AwsClientFactory;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;
import software.amazon.awssdk.services.glue.GlueClient;
import software.amazon.awssdk.services.kms.KmsClient;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Iceberg's own AWS clients, whose conditional write of a pointer can be made to wait. DynamoDbTableOperations reads
 * the item once more within its commit: only between that read and this write does a change of `v` meet the writer.
 */
public final class PausingClients implements AwsClientFactory {
  static final String FACTORY_KEY = "client.factory";

  /** Run by the thread that is about to write. */
  private static final ThreadLocal<Runnable> BEFORE_WRITE = ThreadLocal.withInitial(() -> () -> {});

  private AwsClientFactory factory;

  /** From now on the calling thread does this before each conditional write. */
  static void beforeWrite(Runnable step) {
    BEFORE_WRITE.set(step);
  }

  @Override
  public void initialize(Map<String, String> properties) {
    Map<String, String> ownFactory = new HashMap<>(properties);
    ownFactory.remove(FACTORY_KEY);
    factory = AwsClientFactories.from(ownFactory);
  }

  @Override
  public DynamoDbClient dynamo() {
    DynamoDbClient client = factory.dynamo();
    Class<?>[] types = {DynamoDbClient.class};
    return (DynamoDbClient) Proxy.newProxyInstance(getClass().getClassLoader(), types, (proxy, method, arguments) -> {
      if (arguments != null && arguments[0] instanceof UpdateItemRequest) {
        BEFORE_WRITE.get().run();
      }
      try {
        return method.invoke(client, arguments);
      } catch (InvocationTargetException failure) {
        throw failure.getCause();
      }
    });
  }

  @Override
  public S3Client s3() {
    return factory.s3();
  }

  @Override
  public S3AsyncClient s3Async() {
    return factory.s3Async();
  }

  @Override
  public GlueClient glue() {
    return factory.glue();
  }

  @Override
  public KmsClient kms() {
    return factory.kms();
  }
}
